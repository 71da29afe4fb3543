import { beforeAll, expect, test } from 'vitest';
import type { GeneratedFiles } from '../../scripts/generate/generated-files.ts';
import { pageAssets } from '../../scripts/generate/page-assets.ts';
import { storedFiles } from '../../scripts/generate/stored-files.ts';

let files: GeneratedFiles;
beforeAll(async () => {
  files = await pageAssets();
});

const outdated = (made: GeneratedFiles) =>
  storedFiles(made)
    .filter(({ isCurrent }) => !isCurrent())
    .map(({ path }) => path);
const textOf = (path: string) => files.get(`pages/assets/${path}`)!.toString();

test('what pages load is what their source makes', () => {
  expect(outdated(files), 'run: npm run build').toEqual([]);
});

test('a file that differs from what is committed is named, in each form', () => {
  const other = new Map([['pages/assets/site.css', Buffer.from('a{}')]]);
  expect(outdated(other)).toEqual(['pages/assets/site.css.br', 'pages/assets/site.css.gz']);
});

test('the build is the same each time', async () => {
  expect([...(await pageAssets())]).toEqual([...files]);
});

test('a script’s hash changes with what it imports, so that no address has two contents', () => {
  const assets = JSON.parse(files.get('pages/assets.json')!.toString()) as Record<string, { hash: string }>;
  const imports = [...textOf('dashboard/client/main.js').matchAll(/\.\.\/([\w-]{12})\/(shared\/[\w-]+\.js)/g)];
  expect(imports.length).toBeGreaterThan(2);
  for (const [, hash, path] of imports) expect(assets[path!]!.hash).toBe(hash);
});

test('scripts bring nothing along that browsers do not need: no code of the server, and no charts before they are asked for', () => {
  const scripts = [...files.keys()].filter((path) => path.endsWith('.js') && !path.endsWith('/graphiql/app.js'));
  expect(scripts.filter((path) => /["`']node:|process\.env/.test(files.get(path)!.toString()))).toEqual([]);
  expect(textOf('shared/chart-library.js').length).toBeGreaterThan(300_000);
  expect(textOf('dashboard/client/main.js').length).toBeLessThan(150_000);
});
