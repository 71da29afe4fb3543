import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';

/** A file that browsers may have. */
export interface AssetFile {
  /** Below the address of the assets, e.g. `client/theme.ts`. */
  path: string;
  /** Where it lies. */
  file: string;
  contentType: string;
}

const contentTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.ts': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
};

/** What the browser gets of a package: the files, and which of them each import means. */
interface BrowserPackage {
  name: string;
  files: readonly string[];
  imports: Record<string, string>;
}

const packages: readonly BrowserPackage[] = [
  {
    name: 'preact',
    files: ['dist/preact.mjs', 'hooks/dist/hooks.mjs'],
    imports: { preact: 'dist/preact.mjs', 'preact/hooks': 'hooks/dist/hooks.mjs' },
  },
  {
    name: 'htm',
    files: ['dist/htm.module.js', 'preact/index.module.js'],
    imports: { htm: 'dist/htm.module.js', 'htm/preact': 'preact/index.module.js' },
  },
  { name: 'echarts', files: ['dist/echarts.esm.min.mjs'], imports: { echarts: 'dist/echarts.esm.min.mjs' } },
];

const require = createRequire(import.meta.url);

/** The folder of an installed package: where the `package.json` that bears its name lies. */
function packageFolder(name: string): string {
  for (let folder = dirname(require.resolve(name)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      if (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name === name) return folder;
    } catch {
      // No package.json here, or one of a part of the package.
    }
  }
  throw new Error(`the package ${name} is not installed`);
}

const fromPackage = (name: string, file: string) => `lib/${name}/${file}`;

function asset(path: string, file: string): AssetFile {
  return { path, file, contentType: contentTypes[extname(file)]! };
}

/** The files of this folder that are for browsers: style sheets, pictures, and what lies in folders named `client`. */
function ownFiles(): AssetFile[] {
  const root = import.meta.dirname;
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in contentTypes)
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => asset(relative(root, file).split(sep).join('/'), file))
    .filter(({ path }) => !path.endsWith('.ts') || path.split('/').at(-2) === 'client');
}

/** Every file that browsers may have. */
export function assetFiles(): AssetFile[] {
  const fromPackages = packages.flatMap(({ name, files }) => {
    const folder = packageFolder(name);
    return files.map((file) => asset(fromPackage(name, file), join(folder, file)));
  });
  return [...ownFiles(), ...fromPackages];
}

/** What the packages' names mean to the browser: import specifier → path below the assets. */
export const packageImports: Readonly<Record<string, string>> = Object.fromEntries(
  packages.flatMap(({ name, imports }) =>
    Object.entries(imports).map(([specifier, file]) => [specifier, fromPackage(name, file)]),
  ),
);
