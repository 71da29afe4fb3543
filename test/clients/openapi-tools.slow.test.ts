import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folder as ownRoutes } from '../rest/own/folder.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { generatedFolder, installPackages, runProgram, typeErrors } from './own-packages.ts';

let app: TestApp;
const folder = generatedFolder('tools');

// The packages may have to be downloaded. The document has an operator's routes of every shape, too.
beforeAll(async () => {
  [app] = await Promise.all([testApp({ routes: ownRoutes }), installPackages()]);
  const { bytes } = await app.get('/v2/openapi.json', { credential: null });
  writeFileSync(join(folder, 'openapi.json'), bytes);
}, 600_000);
afterAll(() => app.close());

const published = (): Json => JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8'));

async function lint(name: string, document: Json): Promise<string[]> {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(document));
  return JSON.parse(await runProgram('lint.mjs', file));
}

describe('linters of /v2/openapi.json', () => {
  test('find nothing', { timeout: 120_000 }, async () => {
    expect(await lint('linted.json', published())).toEqual([]);
  });

  test('would find what is wrong', { timeout: 120_000 }, async () => {
    const document = published();
    const quotes = document.paths['/v2/quotes'].get;
    quotes.operationId = 'spot';
    quotes.parameters[0].schema.type = 'text';
    quotes.tags = ['nowhere'];
    const rules = new Set((await lint('broken.json', document)).map((line) => line.split(' ', 2).join(' ')));
    expect([...rules]).toEqual(
      expect.arrayContaining([
        'redocly operation-operationId-unique',
        'redocly struct',
        'spectral operation-operationId-unique',
        'spectral operation-tag-defined',
      ]),
    );
  });
});

describe('the linter of /asyncapi.json', () => {
  async function found(change: (document: Json) => void): Promise<string[]> {
    const document: Json = (await app.get('/asyncapi.json', { credential: null })).body;
    change(document);
    const file = join(folder, 'asyncapi.json');
    writeFileSync(file, JSON.stringify(document));
    return JSON.parse(await runProgram('lint-asyncapi.mjs', file));
  }

  test('finds nothing against the published schema', { timeout: 120_000 }, async () => {
    expect(await found(() => {})).toEqual([]);
  });

  test('would find what is wrong', { timeout: 120_000 }, async () => {
    const wrong = await found((document) => {
      document.channels.stream.messages = 'none';
      document.operations.receiveEvents.action = 'look';
    });
    expect(wrong.join()).toContain('asyncapi-3-document');
  });
});

describe('generators of clients', () => {
  test('write TypeScript that type-checks, with JSON read as JSON', { timeout: 120_000 }, async () => {
    await runProgram('generate.mjs', folder);
    expect(await typeErrors([join(folder, 'openapi.ts'), join(folder, 'orval.ts')])).toBe('');
    // Where an answer is called binary, orval reads every answer of the route as a blob, JSON too.
    expect(readFileSync(join(folder, 'orval.ts'), 'utf8')).not.toContain('.blob()');
  });

  test('write clients that the gateway answers', { timeout: 120_000 }, async () => {
    const program = join(folder, 'ask.ts');
    writeFileSync(program, asking);
    expect(await typeErrors([program])).toBe('');
    expect(JSON.parse(await runProgram(`generated/tools/ask.ts`, app.url, await app.key()))).toEqual({
      openapi: ['SPY', 'AAPL'],
      orval: ['SPY', 'AAPL'],
      refused: [400, 'invalid_params'],
      csv: 'symbol',
      own: ['SPY', 'AAPL'],
    });
  });
});

/** A program that asks the same with both clients. */
const asking = `
import createClient from 'openapi-fetch';
import type { paths } from './openapi.ts';
import { quotes, getQuotesUrl } from './orval.ts';

const [url, key] = process.argv.slice(2) as [string, string];
const headers = { Authorization: \`Bearer \${key}\` };
const client = createClient<paths, 'application/json'>({ baseUrl: url, headers });
const symbols = 'SPY,AAPL';
const { data, error } = await client.GET('/v2/quotes', { params: { query: { symbols } } });
if (error) throw new Error(error.error.message);
const failed = await client.GET('/v2/quotes', { params: { query: { symbols: '' } } });
const csv = await client.GET('/v2/quotes', {
  params: { query: { symbols } },
  headers: { Accept: 'text/csv' },
  parseAs: 'text',
});
const own = await client.GET('/own/prices', { params: { query: { symbols } } });

// orval's client asks the page's own origin.
const plain = globalThis.fetch;
globalThis.fetch = (path, options) => plain(new URL(String(path), url), options);
const same = await quotes({ symbols }, { headers });
if (same.status !== 200 || typeof same.data === 'string') throw new Error(getQuotesUrl({ symbols }));
console.log(JSON.stringify({
  openapi: data.data.map(({ symbol }) => symbol),
  orval: same.data.data.map(({ symbol }) => symbol),
  refused: [failed.response.status, failed.error?.error.code],
  csv: csv.data?.split(',')[0],
  own: own.data?.data?.map(({ symbol }) => symbol),
}));
`;
