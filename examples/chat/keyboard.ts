import { emitKeypressEvents, type Interface, type Key } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { withoutControls } from './view.ts';

/** Keys that do more than edit. Where one gives back true, the editor does not see it. */
export type KeyHandlers = Record<'enter' | 'escape' | 'interrupt' | 'end', () => boolean>;

/** Stands for the end of a line in a pasted text while it is edited: the editor has one line. */
const lineEndSign = '⏎';

/** A terminal that was told so marks where pasted text begins and ends. */
export const beginPasteMode = '\x1b[?2004h';
export const endPasteMode = '\x1b[?2004l';

/** An edited line as its user means it. */
export function readEdited(line: string): string {
  return line.replaceAll(lineEndSign, '\n');
}

/** Stands between a terminal and an editor of `node:readline`. */
export interface Keyboard {
  /** What the editor reads. */
  readonly keys: NodeJS.ReadableStream;
  /** Begins to pass keys on; those that were pressed before have waited. */
  listen(editor: Interface, handlers: KeyHandlers): void;
}

export function openKeyboard(input: ReadStream): Keyboard {
  // The editor finds the switch of the terminal's raw mode on what it reads.
  const keys = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => input.setRawMode(isRaw) });

  function pass(text: string | undefined, key: Key): void {
    keys.emit('keypress', text, key);
  }

  return {
    keys,
    listen(editor, handlers) {
      let paste: string | undefined;
      emitKeypressEvents(input, editor);
      input.on('keypress', (text: string | undefined, key: Key) => {
        if (key.name === 'paste-start') paste = '';
        else if (key.name === 'paste-end') {
          if (paste) pass(readPaste(paste), {});
          paste = undefined;
        } else if (paste !== undefined) paste += key.sequence ?? '';
        else {
          const special = specialKey(key);
          if (special === undefined || !handlers[special]()) pass(text, key);
        }
      });
      editor.on('pause', () => input.pause());
      editor.on('resume', () => input.resume());
    },
  };
}

function specialKey({ name, ctrl, meta }: Key): keyof KeyHandlers | undefined {
  if (name === 'escape') return name;
  if (meta) return undefined;
  if (name === 'return' || name === 'enter') return 'enter';
  if (ctrl && name === 'c') return 'interrupt';
  return ctrl && name === 'd' ? 'end' : undefined;
}

function readPaste(text: string): string {
  return withoutControls(text.replace(/\r\n?|\n/g, lineEndSign).replaceAll('\t', '  '));
}
