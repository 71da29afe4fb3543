import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';
import { graphiqlParts, readGraphiqlPart, strippedScripts } from './asset-thread.ts';

/** A file that browsers may have. */
export interface AssetFile {
  /** Below the address of the assets, e.g. `client/before-paint.ts`. */
  path: string;
  contentType: string;
  /** Another text whenever the bytes are others: their hash, or the version of the package they come with. */
  version: string;
  /** Its bytes as the browser gets them (TypeScript without its types), read again by each call. */
  read: () => Promise<Buffer>;
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
  { name: 'minisearch', files: ['dist/es/index.js'], imports: { minisearch: 'dist/es/index.js' } },
];

const require = createRequire(import.meta.url);

/** The folder of an installed package, where the `package.json` that bears its name lies, and its version. */
function installed(name: string): { folder: string; version: string } {
  for (let folder = dirname(require.resolve(name)); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (manifest.name === name) return { folder, version: `${name}@${manifest.version}` };
    } catch {
      // No package.json here, or one of a part of the package.
    }
  }
  throw new Error(`the package ${name} is not installed`);
}

const fromPackage = (name: string, file: string) => `lib/${name}/${file}`;

const contentTypeOf = (path: string) => contentTypes[extname(path)]!;

/** What is sent with a file of the project. */
const fileOf = (file: string) => ({
  contentType: contentTypeOf(file),
  version: createHash('sha256').update(readFileSync(file)).digest('base64url'),
});

/**
 * The files of this folder that are for browsers: style sheets, pictures, and what lies below folders named `client`.
 */
function ownFiles(): AssetFile[] {
  const root = import.meta.dirname;
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in contentTypes)
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ file, path: relative(root, file).split(sep).join('/') }))
    .filter(({ path }) => !path.endsWith('.ts') || path.split('/').includes('client'));
  const stripped = strippedScripts(files.map(({ file }) => file).filter((file) => file.endsWith('.ts')));
  return files.map(({ file, path }) => ({
    ...fileOf(file),
    path,
    read: file.endsWith('.ts') ? () => stripped(file) : () => readFile(file),
  }));
}

function packageFiles(): AssetFile[] {
  return packages.flatMap(({ name, files }) => {
    const { folder, version } = installed(name);
    return files.map((file) => ({
      path: fromPackage(name, file),
      contentType: contentTypeOf(file),
      version,
      read: () => readFile(join(folder, file)),
    }));
  });
}

/**
 * GraphiQL's script and style sheet. Its package holds them as texts of one module of 2 MB, which is never loaded here.
 */
function graphiqlFiles(): AssetFile[] {
  const { version } = installed('@graphql-yoga/render-graphiql');
  return Object.entries(graphiqlParts).map(([path, part]) => ({
    path,
    contentType: contentTypeOf(path),
    version,
    read: () => readGraphiqlPart(part),
  }));
}

/** The chart library: one file of a package of 68 MB, which is not installed for running. */
function chartLibrary(): AssetFile {
  const name = 'echarts.esm.min.mjs';
  const file = join(import.meta.dirname, '../../generated/pages', name);
  return { ...fileOf(file), path: `lib/${name}`, read: () => readFile(file) };
}

/** Every file that browsers may have. */
export function assetFiles(): AssetFile[] {
  return [...ownFiles(), chartLibrary(), ...packageFiles(), ...graphiqlFiles()];
}

/** What the packages' names mean to the browser: import specifier → path below the assets. */
export const packageImports: Readonly<Record<string, string>> = {
  echarts: 'lib/echarts.esm.min.mjs',
  ...Object.fromEntries(
    packages.flatMap(({ name, imports }) =>
      Object.entries(imports).map(([specifier, file]) => [specifier, fromPackage(name, file)]),
    ),
  ),
};
