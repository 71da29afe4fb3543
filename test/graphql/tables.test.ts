import { readFileSync } from 'node:fs';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Json, TestApp } from '../support/app.ts';
import { testApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';

let app: TestApp;
let small: TestApp;
beforeAll(async () => {
  app = await filledApp();
  small = await testApp({ store: app.store, nowMs: filledNowMs, env: { ANSWER_MAX_BYTES: '65536' } });
});
afterAll(async () => {
  small.live.close();
  await small.access.close();
  await app.close();
});

const send = (query: string, accept: string, { table, to = app, ...more }: Json = {}): Promise<Answer> =>
  to.send('POST', `/graphql${table === undefined ? '' : `?table=${table}`}`, {
    body: JSON.stringify({ query }),
    headers: { accept, 'content-type': 'application/json', ...more.headers },
    ...(more.credential !== undefined && { credential: more.credential }),
  });
const dataOf = async (query: string): Promise<Json> => {
  const { body } = await send(query, 'application/json');
  expect(body.errors).toBeUndefined();
  return body.data;
};

const range = 'from: "2026-11-30", to: "2026-12-01"';
const bars = `{ symbol(symbol: "SPY") { name bars(${range}) { rows { tsMs open vwap volume } } } }`;
const page = `{ symbols(first: 3) { edges { cursor node { symbol name access { allowed } } } totalCount } }`;
const two = `{ a: symbol(symbol: "SPY") { bars(${range}) { rows { tsMs } } } b: symbol(symbol: "AAPL") { bars(${range}) { rows { close } } } }`;
const inner = `{ symbols(first: 1, search: "SPY") { nodes { symbol bars(${range}) { columns { close } rows { tsMs } } } } }`;

const linesOf = ({ bytes }: Answer): Json[] =>
  bytes
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const plain = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value]),
  );
const csvOf = ({ bytes }: Answer) => parse(bytes, { columns: true }) as Json[];

describe('a list of the graph is a table where the client accepts one', () => {
  test('as NDJSON, CSV, Arrow and Parquet: the rows of the JSON answer', async () => {
    const { rows } = (await dataOf(bars)).symbol.bars;
    expect(rows.length).toBeGreaterThan(100);
    const lines = await send(bars, 'application/x-ndjson');
    expect([lines.status, lines.headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    expect(linesOf(lines)).toEqual(rows);
    const texts = rows.map((row: Json) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value === null ? '' : String(value)])),
    );
    expect(csvOf(await send(bars, 'text/csv'))).toEqual(texts);
    const arrow = tableFromIPC((await send(bars, 'application/vnd.apache.arrow.stream')).bytes);
    expect(arrow.toArray().map((row) => plain(row.toJSON()))).toEqual(rows);
    expect(String(arrow.schema.fields[0]!.type)).toBe('Int64');
    const file = Uint8Array.from((await send(bars, 'application/vnd.apache.parquet')).bytes).buffer;
    expect((await parquetReadObjects({ file, compressors })).map(plain)).toEqual(rows);
    const metadata = new Map(parquetMetadata(file).key_value_metadata!.map(({ key, value }) => [key, value!]));
    expect(JSON.parse(metadata.get('data')!)).toEqual({ 'symbol.name': (await dataOf(bars)).symbol.name });
    expect(JSON.parse(metadata.get('extensions')!).cost.requests).toBeGreaterThan(0);
  });

  test('by GET too, compressed, with the values beside it as headers, and never stored', async () => {
    const headers = { accept: 'text/csv', 'accept-encoding': 'gzip' };
    const answer = await app.get(`/graphql?${new URLSearchParams({ query: bars })}`, { headers });
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', 'cache-control': 'no-store' });
    expect(answer.headers.vary).toContain('Accept');
    expect(JSON.parse(String(answer.headers['x-itm-data']))).toHaveProperty(['symbol.name']);
    expect(JSON.parse(String(answer.headers['x-itm-extra']))).toHaveProperty('cost');
  });

  test('of a page with edges, whose rows are its nodes', async () => {
    const { edges, totalCount } = (await dataOf(page)).symbols;
    const answer = await send(page, 'text/csv', { table: 'symbols' });
    expect(csvOf(answer)).toEqual(
      edges.map(({ cursor, node: { symbol, name, access } }: Json) => ({
        cursor,
        symbol,
        name: name ?? '',
        'access.allowed': String(access.allowed),
      })),
    );
    expect(JSON.parse(String(answer.headers['x-itm-data']))).toEqual({ 'symbols.totalCount': totalCount });
    expect(linesOf(await send(page, 'application/jsonl'))).toEqual(
      edges.map(({ cursor, node }: Json) => ({ ...node, cursor })),
    );
  });

  test('of several lists the one that the request names', async () => {
    const missing = await send(two, 'text/csv');
    expect([missing.status, missing.body.errors[0].extensions.code]).toEqual([400, 'invalid_params']);
    expect(missing.body.errors[0].message).toContain('expected one of a.bars.rows, b.bars.rows');
    expect(csvOf(await send(two, 'text/csv', { table: 'b.bars.rows' }))).toEqual(
      (await dataOf(two)).b.bars.rows.map(({ close }: Json) => ({ close: String(close) })),
    );
    const unknown = await send(two, 'text/csv', { table: 'c' });
    expect(unknown.body.errors[0]).toMatchObject({
      message: expect.stringContaining('expected one of a.bars.rows, b.bars.rows, got "c"'),
      extensions: { details: { parameter: 'table' } },
    });
  });

  test('of a list inside rows with what is around it, within the size of an answer', async () => {
    const table = 'symbols.nodes.bars.rows';
    const [node] = (await dataOf(inner)).symbols.nodes;
    const rows = csvOf(await send(inner, 'text/csv', { table }));
    expect(rows.map((row) => [row.symbol, Number(row['bars.rows.tsMs'])])).toEqual(
      node.bars.rows.map(({ tsMs }: Json) => ['SPY', tsMs]),
    );
    // Each row repeats a list of hundreds of closes.
    expect((await send(inner, 'application/json', { to: small })).body.errors).toBeUndefined();
    for (const accept of ['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet']) {
      const { status, body } = await send(inner, accept, { table, to: small });
      expect([status, body.errors[0].extensions.details.limit]).toEqual([400, 'bytes']);
    }
  });

  test.each([
    ['an object', '{ me { tier } }'],
    ['a mutation', 'mutation { createStreamTicket { __typename } }'],
    ['introspection', '{ __schema { types { name } } }'],
    ['a health check', '{ __typename }'],
  ])('of %s there is none: 400, as JSON', async (_, query) => {
    const { status, body } = await send(query, 'text/csv');
    expect([status, body.data, body.errors.length]).toEqual([400, undefined, 1]);
  });

  test('costs and is refused as JSON is', async () => {
    const [asJson, asCsv] = [await send(bars, 'application/json'), await send(bars, 'text/csv')];
    expect(asCsv.headers['x-ratelimit-consumed']).toBe(asJson.headers['x-ratelimit-consumed']);
    expect((await send(bars, 'text/csv', { credential: null })).status).toBe(401);
    const failed = await send(bars.replace('SPY', 'QQQQQ'), 'text/csv');
    expect([failed.status, failed.body.data, failed.body.errors[0].extensions.code]).toEqual([
      404,
      undefined,
      'not_found',
    ]);
    const broken = await send('{ symbol }', 'text/csv');
    expect([broken.status, broken.headers['content-type']]).toEqual([400, expect.stringContaining('json')]);
  });

  test('the request of the documentation is one', async () => {
    const text = readFileSync(new URL('../../docs/graph.md', import.meta.url), 'utf8');
    const { query } = JSON.parse(/--data '(.*)' "\$URL/.exec(text)![1]!);
    expect(csvOf(await send(query, 'text/csv')).map(({ symbol }) => symbol)).toEqual(['SPY', 'QQQ']);
  });

  test.each([
    ['application/json, text/csv', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/html, */*;q=0.8', 'application/json'],
    ['text/csv, */*', 'text/csv'],
    ['application/json;q=0.5, text/csv', 'text/csv'],
  ])('Accept: %s', async (accept, expected) => {
    expect((await send(bars, accept)).headers['content-type']).toContain(expected);
  });
});
