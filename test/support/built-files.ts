import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));
export const dist: string = join(root, 'dist');

/** Paths of the built files with one of these endings. Throws where nothing was built, so that no check passes over nothing. */
export function builtFiles(endings: readonly string[], folder: string = dist): string[] {
  if (!existsSync(folder)) throw new Error(`${relative(root, folder)}/ is missing: run \`npm run build\` before this test.`);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    endings.some((ending) => file.endsWith(ending)),
  );
  if (files.length === 0) throw new Error(`No built file ends in ${endings.join(' or ')}: run \`npm run build\`.`);
  return files.map((file) => join(folder, file)).sort();
}

export interface Imports {
  /** Loaded together with the file. */
  static: string[];
  /** Loaded on demand: by `import()`, or by a `require` inside a function. */
  dynamic: string[];
}

/** What a built file or declaration imports, re-exports or requires. */
export function importsOf(file: string): Imports {
  const imports: Imports = { static: [], dynamic: [] };
  const visit = (node: ts.Node, onDemand: boolean): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      if (ts.isStringLiteral(node.moduleSpecifier)) imports.static.push(node.moduleSpecifier.text);
    } else if (ts.isImportTypeNode(node)) {
      imports.static.push(node.argument.getText().slice(1, -1));
    } else if (ts.isCallExpression(node)) {
      const argument = node.arguments[0];
      if (argument && ts.isStringLiteralLike(argument)) {
        if (node.expression.kind === ts.SyntaxKind.ImportKeyword) imports.dynamic.push(argument.text);
        else if (node.expression.getText() === 'require') (onDemand ? imports.dynamic : imports.static).push(argument.text);
      }
    }
    ts.forEachChild(node, (child) => visit(child, onDemand || ts.isFunctionLike(node)));
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS), false);
  return imports;
}

/** Packages and built-in modules that are loaded together with a file, directly or through the files that it loads. */
export function loadedWith(file: string, seen: Set<string> = new Set()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(file)) return packages;
  seen.add(file);
  for (const specifier of importsOf(file).static) {
    if (!specifier.startsWith('.')) packages.add(specifier);
    else for (const name of loadedWith(join(dirname(file), specifier), seen)) packages.add(name);
  }
  return packages;
}
