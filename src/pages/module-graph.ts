import { posix } from 'node:path';
import { parse } from 'es-module-lexer/js';

/** Where modules are found. */
export interface ModuleFiles {
  /** The text of a module, by its path below the assets. */
  read: (path: string) => Promise<string>;
  /** What packages' names mean: import specifier → path below the assets. */
  packages: Readonly<Record<string, string>>;
}

/** The modules that a text imports, by their paths; dynamic imports are not included. */
function importsOf(text: string, path: string, packages: ModuleFiles['packages']): string[] {
  const [imports] = parse(text, path);
  return imports
    .filter(({ d, n }) => d === -1 && n !== undefined)
    .map(({ n }) => packages[n!] ?? posix.join(posix.dirname(path), n!));
}

/** The modules that `entry` needs before it runs, itself the first, then level by level. */
export async function modulesOf(entry: string, { read, packages }: ModuleFiles): Promise<string[]> {
  const found = new Set([entry]);
  for (const path of found) {
    for (const imported of importsOf(await read(path), path, packages)) found.add(imported);
  }
  return [...found];
}
