/** The file system as the store needs it, so that tests can break it and cut its power. Paths are absolute. */
export interface FileLayer {
  /** Makes a folder and those above it that are missing, for the owner alone. They survive a power cut. */
  makeFolder(path: string): Promise<void>;
  /** Undefined where there is no such file. `append` makes the file if need be, `create` demands that there is none. */
  open(path: string, mode: 'read' | 'append' | 'create'): Promise<OpenFile | undefined>;
  /** Undefined where there is no such file. */
  stat(path: string): Promise<FileFacts | undefined>;
  rename(from: string, to: string): Promise<void>;
  /** Nothing happens where there is no such file. */
  remove(path: string): Promise<void>;
  /** What was made, renamed and removed in a folder survives a power cut from now on. */
  syncFolder(path: string): Promise<void>;
}

export interface OpenFile {
  facts(): Promise<FileFacts>;
  /** How many bytes were read: 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Writes all of it at the end. */
  write(bytes: Uint8Array): Promise<void>;
  truncate(size: number): Promise<void>;
  /** What was written survives a power cut from now on. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface FileFacts {
  size: number;
  /** The same for the same file, whatever its name. */
  identity: string;
}
