import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtFiles, dist, importsOf, loadedWith, root } from './support/built-files.ts';

type Format = 'import' | 'require';

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const manifest = readJson(join(root, 'package.json'));
const specifiers = Object.keys(readJson(join(root, 'tsconfig.json')).compilerOptions.paths);
const nameOf = (specifier: string) => specifier.split('/')[1] ?? 'index';

/** Runs code in a plain Node process; `load(specifier)` is the given way to load a module. Gives back what it prints as JSON. */
function runNode(format: Format, code: string, folder: string = root) {
  const load = format === 'import' ? '(specifier) => import(specifier)' : 'async (specifier) => require(specifier)';
  const script = `const load = ${load}; (async () => { ${code} })()`;
  const type = format === 'import' ? 'module' : 'commonjs';
  return JSON.parse(
    execFileSync(process.execPath, [`--input-type=${type}`, '-e', script], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
  );
}

function exportedNames(format: Format, folder?: string): Record<string, string[]> {
  const list = `for (const specifier of ${JSON.stringify(specifiers)}) names[specifier] = Object.keys(await load(specifier)).sort();`;
  return runNode(format, `const names = {}; ${list} console.log(JSON.stringify(names));`, folder);
}

// Fails here, with the remedy, where nothing was built.
beforeAll(() => {
  builtFiles(['.js', '.cjs', '.d.ts', '.d.cts']);
});

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** A copy of the built package beside which only these packages are installed. */
function installWith(packages: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'package-test-'));
  folders.push(folder);
  cpSync(dist, join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  mkdirSync(join(folder, 'node_modules'));
  for (const name of packages) symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'junction');
  return folder;
}

/** `file: module` for each import of a module that only Node has, apart from what is loaded by sessions alone: these are for Node. */
function nodeImports(folder: string = dist): string[] {
  return ['js', 'cjs']
    .flatMap((ending) => filesFor(`.${ending}`, folder))
    .flatMap((file) => {
      const imports = importsOf(file);
      return [...imports.static, ...imports.dynamic].filter(isBuiltin).map((specifier) => `${basename(file)}: ${specifier}`);
    });
}

/** What the entries load that run anywhere, and all that is loaded on demand. */
function filesFor(ending: string, folder: string): string[] {
  const entries = specifiers.map((specifier) => join(folder, `${nameOf(specifier)}${ending}`));
  const everywhere = new Set<string>();
  const all = new Set<string>();
  for (const entry of entries) {
    loadedWith(entry, all);
    if (basename(entry) !== `session${ending}`) loadedWith(entry, everywhere);
  }
  return builtFiles([ending], folder).filter((file) => everywhere.has(file) || !all.has(file));
}

describe('entries', () => {
  it('exports exactly the entries that tsconfig.json lists, with types for both formats', () => {
    const expected = specifiers.map((specifier) => {
      const file = `./dist/${nameOf(specifier)}`;
      return [
        specifier.replace('context-compactor', '.'),
        {
          import: { types: `${file}.d.ts`, default: `${file}.js` },
          require: { types: `${file}.d.cts`, default: `${file}.cjs` },
        },
      ];
    });
    expect(specifiers.length).toBeGreaterThan(0);
    expect(manifest.exports).toEqual({ ...Object.fromEntries(expected), './package.json': './package.json' });
  });

  it('documents every entry', () => {
    const sources = Object.values<string[]>(readJson(join(root, 'tsconfig.json')).compilerOptions.paths).map(([source = '']) =>
      join(source),
    );
    expect(readJson(join(root, 'typedoc.json')).entryPoints).toEqual(sources);
  });

  it('loads every entry by import and by require, with the same names', () => {
    const imported = exportedNames('import');
    expect(exportedNames('require')).toEqual(imported);
    for (const specifier of specifiers) expect(imported[specifier], specifier).not.toEqual([]);
    expect(Object.values(imported).flat()).not.toContain('default');
  });

  it.each(['import', 'require'] as const)('throws the same CompactionError from every entry that is loaded by %s', (format) => {
    const caught = runNode(
      format,
      `const { CompactionError } = await load('context-compactor');
       const { openaiChat } = await load('context-compactor/openai-chat');
       const { anthropicMessages } = await load('context-compactor/anthropic');
       const caught = [];
       for (const adapter of [openaiChat(), anthropicMessages()]) {
         try { adapter.items({ messages: 1 }); } catch (error) { caught.push([error.code, error instanceof CompactionError]); }
       }
       console.log(JSON.stringify(caught));`,
    );
    expect(caught).toEqual([
      ['invalid-request', true],
      ['invalid-request', true],
    ]);
  });

  it('recognizes a CompactionError of the other format', () => {
    const recognized = runNode(
      'import',
      `const { createRequire } = await import('node:module');
       const { CompactionError } = createRequire(process.cwd() + '/')('context-compactor');
       const { isCompactionError } = await load('context-compactor');
       console.log(isCompactionError(new CompactionError('stale', 'The history changed.')));`,
    );
    expect(recognized).toBe(true);
  });
});

describe('where it runs', () => {
  it('imports no module that only Node has', () => {
    expect(nodeImports()).toEqual([]);
  });

  it('finds a Node module that was planted', () => {
    const folder = installWith([]);
    appendFileSync(join(folder, 'dist/index.js'), "\nimport 'node:path';");
    appendFileSync(join(folder, 'dist/index.cjs'), "\nvoid (() => require('fs/promises'));");
    appendFileSync(join(folder, 'dist/testing.js'), "\nvoid (() => import('node:fs'));");
    const planted = ['index.cjs: fs/promises', 'index.js: node:path', 'testing.js: node:fs'];
    expect(nodeImports(join(folder, 'dist'))).toEqual(expect.arrayContaining(planted));
  });

  it.each(['index.js', 'index.cjs'])('does not load the tokenizer with %s', (file) => {
    expect([...loadedWith(join(dist, file))].filter((specifier) => specifier.startsWith('gpt-tokenizer'))).toEqual([]);
  });

  it('finds a tokenizer that was planted in a file that the root loads', () => {
    const folder = installWith([]);
    appendFileSync(join(folder, 'dist/index.js'), "\nimport './planted.js';");
    appendFileSync(join(folder, 'dist/planted.js'), "export * from 'gpt-tokenizer';");
    expect(loadedWith(join(folder, 'dist/index.js'))).toContain('gpt-tokenizer');
  });

  it('loads on demand by require in CommonJS, because Jest refuses import()', () => {
    const importers = builtFiles(['.cjs']).filter((file) => /\bimport\(/.test(readFileSync(file, 'utf8')));
    const onDemand = (ending: string) => builtFiles([ending]).flatMap((file) => importsOf(file).dynamic);
    expect(importers).toEqual([]);
    expect(onDemand('.cjs').length).toBe(onDemand('.js').length);
    expect(onDemand('.cjs').length).toBeGreaterThan(0);
  });

  // p-retry and is-network-error are ESM only: the CommonJS build contains them.
  it.each([
    ['import', ['zod', 'p-retry']],
    ['require', ['zod']],
  ] as const)('needs for the root by %s no package but %j', (format, packages) => {
    const folder = installWith(packages);
    const load = "console.log(Object.keys(await load('context-compactor')).length);";
    expect(runNode(format, load, folder)).toBeGreaterThan(0);

    const file = format === 'import' ? 'index.js' : 'index.cjs';
    appendFileSync(join(folder, 'dist', file), format === 'import' ? "\nimport 'gpt-tokenizer';" : "\nrequire('gpt-tokenizer');");
    expect(() => runNode(format, load, folder)).toThrow(/Cannot find (package|module) 'gpt-tokenizer'/);
  });
});

describe('declarations', () => {
  const files = () => builtFiles(['.d.ts', '.d.cts']);

  // A consumer who checks libraries must not need the SDKs, zod or anything else.
  it('import nothing but each other', () => {
    const foreign = files().flatMap((file) => importsOf(file).static.filter((specifier) => !specifier.startsWith('.')));
    expect(foreign).toEqual([]);
  });

  it('compile in a strict consumer that checks libraries', () => {
    const program = ts.createProgram(files(), {
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
      module: ts.ModuleKind.NodeNext,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      types: [],
    });
    const problems = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    expect(problems).toEqual([]);
  });
});

describe('what is shipped', () => {
  const sourcesOf = (file: string): string[] => readJson(file).sources;
  const inlined = (ending: string) => {
    const sources = builtFiles([ending]).flatMap(sourcesOf);
    return [...new Set(sources.flatMap((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []))].sort();
  };

  it('tells no path of the machine that built it', () => {
    for (const file of builtFiles([''])) {
      const text = readFileSync(file, 'utf8');
      expect(text.includes(root), file).toBe(false);
      expect(text.includes('file://'), file).toBe(false);
    }
    const sources = builtFiles(['.map']).flatMap(sourcesOf);
    expect(sources.filter((source) => !/^\.\.\/(src|node_modules)\//.test(source))).toEqual([]);
  });

  it('contains other packages in the CommonJS build only, with their licenses', () => {
    expect(inlined('.js.map')).toEqual([]);
    expect(inlined('.cjs.map')).toEqual(['is-network-error', 'p-retry']);
    const licenses = readFileSync(join(root, 'THIRD_PARTY_LICENSES.md'), 'utf8');
    for (const name of inlined('.cjs.map')) {
      expect(licenses).toContain(
        `## ${name}\n\n\`\`\`text\n${readFileSync(join(root, 'node_modules', name, 'license'), 'utf8')}`,
      );
    }
  });

  it('packs what is built, its sources, its examples and its licenses, and nothing else', () => {
    const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: 'pipe',
      shell: process.platform === 'win32',
    });
    const paths: string[] = JSON.parse(output)[0].files.map(({ path }: { path: string }) => path);
    const outside = paths.filter((path) => !/^(dist|src|examples)\//.test(path)).sort();
    expect(outside).toEqual([
      'AGENTS.md',
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'THIRD_PARTY_LICENSES.md',
      'package.json',
    ]);
    for (const specifier of specifiers) expect(paths).toContain(`dist/${nameOf(specifier)}.js`);
  });
});
