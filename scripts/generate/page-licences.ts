import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const folder = 'node_modules/';
const root = join(import.meta.dirname, '../..');

/** The package that a module is of, e.g. `preact`; null for a module of the project. */
export function packageOf(moduleId: string): string | null {
  const path = moduleId.split(sep).join('/');
  const at = path.lastIndexOf(folder);
  if (at < 0) return null;
  const [scope, name] = path.slice(at + folder.length).split('/');
  return scope!.startsWith('@') ? `${scope}/${name}` : scope!;
}

function licenceOf(name: string): string {
  const installed = join(root, folder, name);
  const { version, license } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const files = readdirSync(installed, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /^(licen[cs]e|notice|copyright)/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.slice(installed.length).includes('node_modules'))
    .sort();
  if (files.length === 0) throw new Error(`the package ${name} has no licence file`);
  const texts = files.map((file) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n').trim());
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}

/** The licences of packages, by their names, each package once. */
export function licencesOf(names: readonly string[]): string {
  const line = `\n${'-'.repeat(80)}\n\n`;
  const intro = 'The scripts and style sheets of these pages contain parts of the following packages.\n';
  return [intro, ...[...new Set(names)].sort().map(licenceOf)].join(line);
}
