import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

/** A script of this folder as one file that starts fast: tests start hundreds of processes. */
export async function bundleScript(name: string, outDir: string): Promise<string> {
  await build({
    entry: { [name]: fileURLToPath(new URL(`${name}.ts`, import.meta.url)) },
    config: false,
    silent: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    outDir,
    noExternal: [/.*/],
    outExtension: () => ({ js: '.mjs' }),
    // Some of what is bundled is CommonJS.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return join(outDir, `${name}.mjs`);
}
