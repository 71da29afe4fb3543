import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { css as graphiqlCss, js as graphiqlScript } from '@graphql-yoga/render-graphiql/graphiql';
import { transform } from 'lightningcss';
import { type OutputChunk, rolldown } from 'rolldown';
import type { BuiltAsset } from '../../src/pages/assets.ts';
import type { GeneratedFiles } from './generated-files.ts';
import { licencesOf, packageOf } from './page-licences.ts';

const pages = join(import.meta.dirname, '../../src/pages');

/** Scripts that are modules: what several of them import is a file of its own. */
const modules = [
  'client/site-header.ts',
  'dashboard/client/main.ts',
  'landing/client/main.ts',
  'reference/client/guide-main.ts',
  'reference/client/main.ts',
];

/** Scripts that run at their position in the page, and import nothing. */
const classicScripts = [
  'client/before-paint.ts',
  'graphiql/client/prepare-storage.ts',
  'graphiql/client/fill-skeleton.ts',
  'graphiql/client/start-graphiql.ts',
  'graphiql/client/show-cost.ts',
];

/** GraphiQL's package: two texts in one module. Its fonts, nine tenths of its style sheet, are those of other pages. */
const graphiql = {
  name: '@graphql-yoga/render-graphiql',
  script: graphiqlScript,
  styles: graphiqlCss.replaceAll(/@font-face\s*\{[^}]*\}/g, ''),
};

/** Style sheets and what each is made of, in this order: files of src/pages, or GraphiQL's own. */
const styleSheets: Readonly<Record<string, readonly string[]>> = {
  'site.css': ['colours.css', 'style.css', 'header.css'],
  'dashboard/dashboard.css': ['dashboard', 'watchlist', 'panels', 'tables', 'states'].map(
    (name) => `dashboard/${name}.css`,
  ),
  'graphiql/graphiql.css': [graphiql.name, 'colours.css', 'header.css', 'graphiql/graphiql.css'],
  'landing/landing.css': ['landing/landing.css'],
  'reference/guides/guides.css': ['reference/guides/guides.css'],
  'reference/reference.css': ['reference/reference.css', 'reference/search.css'],
};

/** Where the licences can be read at a server, whatever their hash. */
const licencesNote = '/*! Licences: /assets/-/licences.txt */';

interface Built {
  path: string;
  hash: string;
  text: string;
  /** Paths of the modules that it imports itself. */
  imports: readonly string[];
}

const scriptName = (source: string) => source.replace(/\.ts$/, '');
const ofText = (path: string, text: string): Built => ({
  path,
  text,
  imports: [],
  hash: createHash('sha256').update(text).digest('base64url').slice(0, 12),
});

async function chunksOf(scripts: readonly string[], format: 'es' | 'iife'): Promise<OutputChunk[]> {
  const bundle = await rolldown({
    input: Object.fromEntries(scripts.map((source) => [scriptName(source), join(pages, source)])),
    cwd: pages,
    platform: 'browser',
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  try {
    const { output } = await bundle.generate({
      format,
      minify: true,
      comments: false,
      postBanner: ({ moduleIds }) => (moduleIds.some((id) => packageOf(id) !== null) ? licencesNote : ''),
      // The hash is a folder of the address, so that imports between files hold it.
      entryFileNames: '[hash:12]/[name].js',
      chunkFileNames: '[hash:12]/shared/[name].js',
    });
    return output.map((each) => {
      if (each.type !== 'chunk') throw new Error(`the build made ${each.fileName}, which is no script`);
      return each;
    });
  } finally {
    await bundle.close();
  }
}

const withoutHash = (fileName: string) => fileName.slice(fileName.indexOf('/') + 1);

const builtScript = ({ fileName, code, imports }: OutputChunk): Built => ({
  path: withoutHash(fileName),
  hash: fileName.slice(0, fileName.indexOf('/')),
  imports: imports.map(withoutHash),
  text: code,
});

function builtStyleSheet([path, parts]: readonly [string, readonly string[]]): Built {
  const sources = parts.map((part) =>
    part === graphiql.name ? graphiql.styles : readFileSync(join(pages, part), 'utf8'),
  );
  const { code } = transform({ filename: path, code: Buffer.from(sources.join('\n')), minify: true });
  return ofText(path, Buffer.from(code).toString());
}

/** Modules that `entry` imports, directly or not, without itself, level by level. */
function modulesOf(entry: Built, byPath: ReadonlyMap<string, Built>): string[] {
  const found = new Set(entry.imports);
  for (const path of found) for (const imported of byPath.get(path)!.imports) found.add(imported);
  return [...found];
}

function manifestOf(built: readonly Built[]): string {
  const byPath = new Map(built.map((each) => [each.path, each]));
  if (byPath.size < built.length) throw new Error('two files of the build have one path');
  const entries = built
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .map((each) => {
      const modules = modulesOf(each, byPath);
      return [each.path, { hash: each.hash, ...(modules.length > 0 && { modules }) } satisfies BuiltAsset];
    });
  return `${JSON.stringify(Object.fromEntries(entries), null, 1)}\n`;
}

/**
 * The scripts and style sheets of the pages, bundled and minified, the licences of the packages in them, and the list
 * of all.
 */
export async function pageAssets(): Promise<GeneratedFiles> {
  const chunks = [
    ...(await chunksOf(modules, 'es')),
    ...(await Promise.all(classicScripts.map((script) => chunksOf([script], 'iife')))).flat(),
  ];
  const packaged = chunks.flatMap(({ moduleIds }) => moduleIds.map(packageOf).filter((folder) => folder !== null));
  const built = [
    ...chunks.map(builtScript),
    ...Object.entries(styleSheets).map(builtStyleSheet),
    ofText('graphiql/app.js', graphiql.script),
    ofText('icon.svg', readFileSync(join(pages, 'icon.svg'), 'utf8')),
    ofText('licences.txt', licencesOf([...packaged, graphiql.name])),
  ];
  return new Map([
    ...built.map(({ path, text }) => [`pages/assets/${path}`, Buffer.from(text)] as const),
    ['pages/assets.json', Buffer.from(manifestOf(built))],
  ]);
}
