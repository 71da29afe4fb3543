import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { type FileMetaData, parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Json, TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';
import { about, type KnownRoute, knownRoutes } from './known-routes.ts';
import { madeRequests } from './requests.ts';

const csv = { accept: 'text/csv' };
const arrow = { accept: 'application/vnd.apache.arrow.stream' };
const parquet = { accept: 'application/vnd.apache.parquet' };
const ndjson = { accept: 'application/jsonl' };

// Written from the contract's answers: every list of rows, by the keys that lead to it. The first is what comes unless
// `table` says another.
const tablesOf: Record<string, Record<string, string[]>> = {
  'GET /v2/symbols': { rows: [''] },
  'GET /v2/quotes': { rows: [''] },
  'GET /v2/stocks/:symbol/bars': { rows: [''] },
  'GET /v2/screener/sectors': { rows: [''] },
  'GET /v2/screener/movers': { rows: [''] },
  'GET /v2/screener/screen': { rows: [''] },
  'GET /v2/screener/screens': { rows: [''] },
  'GET /v2/screener/screens/:id/result': { rows: [''] },
  'GET /v2/gex/:symbol/history': { captures: ['captures'], strikes: ['captures', 'strikes'] },
  'GET /v2/gex/:symbol/grid': { strikes: ['strikes'] },
  'GET /v2/gex/:symbol/reference': { strikes: ['strikes'] },
  'GET /v2/gex/:symbol/exposures': { by_strike: ['by_strike'], by_expiry: ['by_expiry'] },
  'GET /v2/gex/:symbol/figures': { strikes: ['strikes'] },
  'GET /v2/options/:symbol/vol/figures': { skew: ['skew'] },
  'GET /v2/options': { rows: [''] },
  'GET /v2/options/:contract/history': { days: ['days'] },
  'GET /v2/levels/:symbol': { levels: ['levels'] },
  'GET /v2/gex/:symbol/change': { strikes: ['change.strikes'], expiries: ['change.expiries'] },
  'GET /gex/:underlying/strikes': { rows: [''] },
  'GET /v2/chain/:symbol': { rows: ['rows'] },
  'GET /v2/account/usage': { by_day: ['by_day'] },
  'GET /v2/account/keys': { rows: [''] },
  'GET /v2/flow/large-trades': { events: ['events'], legs: ['events', 'update.event.legs'] },
  'GET /v2/flow/eod': { prints: ['prints'] },
  'GET /v2/flow/:symbol/cross-section': {
    by_strike: ['snapshot.update.by_strike'],
    by_expiration: ['snapshot.update.by_expiration'],
  },
  'GET /v2/options/:symbol/vol/term': { expiries: ['expiries'] },
  'GET /v2/options/:symbol/vol/surface': { expiries: ['expiries'], points: ['points'] },
  'GET /v2/options/:contract/greeks': { series: ['series'] },
  'GET /v2/options/:contract/bars': { bars: ['bars'] },
  'GET /v2/offexchange/:symbol/concentration': { rows: [''] },
  'GET /v2/offexchange/:symbol/activity': { rows: [''] },
  'GET /v2/offexchange/:symbol/composition': { rows: [''] },
  'GET /v2/offexchange/:symbol/profile': { rows: [''] },
  'GET /v2/watchlists': { rows: [''] },
  'GET /v2/journal/accounts': { rows: [''] },
  'GET /v2/journal/trades': { rows: [''] },
};

/** The names of a route's own lists. */
const listNames = (route: string) =>
  new Set(Object.values(tablesOf[route]!).map((lead) => lead.at(-1)!.split('.').at(-1)!));

let app: TestApp;
let callers: string[];

beforeAll(async () => {
  app = await filledApp();
  const pro = await app.session();
  callers = [await app.key(), pro, await app.key({ apiTier: 'free', classification: null })];
  const list = JSON.stringify({ name: 'Mine, "quoted"', symbols: ['SPY', 'AAPL'] });
  await app.send('PUT', '/v2/watchlists/mine', { credential: pro, body: list });
  const screen = JSON.stringify({ name: 'Mine, "quoted"', where: '{"spot":{"gt":1}}' });
  await app.send('PUT', '/v2/screener/screens/mine', { credential: pro, body: screen });
  await app.send('POST', '/v2/journal/accounts', { credential: pro, body: '{"id":"main","name":"One"}' });
  const trade = { account_id: 'main', symbol: 'SPY', side: 'buy', qty: 1.5, price: 600.25, note: 'two\r\nlines' };
  await app.send('POST', '/v2/journal/trades', { credential: pro, body: JSON.stringify(trade) });
});
afterAll(() => app.close());

function within(value: Json, keys: string): Json {
  return keys === '' ? value : keys.split('.').reduce((found: Json, key) => found?.[key], value);
}

/** Values of an item by column name; lists of objects are tables of their own. */
function flat(item: Json, lists: ReadonlySet<string>, prefix = ''): Json {
  const named = Object.entries(item).map(([key, value]: [string, Json]): Json => {
    if (lists.has(key)) return {};
    if (Array.isArray(value)) return { [prefix + key]: JSON.stringify(value) };
    if (key === 'totals_by_scope_group') return { [prefix + key]: JSON.stringify(value) };
    return value !== null && typeof value === 'object'
      ? flat(value, lists, `${prefix}${key}.`)
      : { [prefix + key]: value };
  });
  return Object.assign({}, ...named);
}

/** A table of a JSON answer. */
interface Table {
  path: string;
  data: Json;
  meta: Json;
  /** Keys that lead to its rows. */
  lead: string[];
  lists: ReadonlySet<string>;
}

/** The rows of a table from the JSON answer. */
function rowsOf(data: Json, [outer, inner]: string[], lists: ReadonlySet<string>): Json[] {
  const items: Json[] = within(data, outer!) ?? [];
  if (inner === undefined) return items.map((item) => flat(item, lists));
  return items.flatMap((item) =>
    within(item, inner).map((below: Json) => ({ ...flat(item, lists), ...flat(below, lists, `${inner}.`) })),
  );
}

/** The lines of a table: items of JSON as they are, those of an inner list in its place in the outer one. */
function linesOf(data: Json, [outer, inner]: string[]): Json[] {
  const items: Json[] = within(data, outer!) ?? [];
  if (inner === undefined) return items;
  const keys = inner.split('.');
  return items.flatMap((item) =>
    within(item, inner).map((below: Json) => {
      const line = structuredClone(item);
      within(line, keys.slice(0, -1).join('.'))[keys.at(-1)!] = below;
      return line;
    }),
  );
}

const jsonRows = ({ bytes }: Answer): Json[] =>
  bytes
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** Without what is null, or text where only text can be read. */
function told(row: Json, text = false): Json {
  const known = Object.entries(row).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(known.map(([key, value]) => [key, text ? String(value) : value]));
}

function csvRows({ bytes }: Answer): { columns: string[]; rows: Json[] } {
  const [columns, ...lines] = parse(bytes, { relax_column_count: false }) as string[][];
  const rows = lines.map((line) =>
    Object.fromEntries(columns!.map((name, i) => [name, line[i] === '' ? null : line[i]])),
  );
  return { columns: columns!, rows };
}

/** Content of a format of typed columns. */
interface Typed {
  columns: string[];
  rows: Json[];
  metadata: Map<string, string>;
}

const plain = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, typeof value === 'bigint' ? Number(value) : value]),
  );

function arrowRows({ bytes }: Answer): Typed {
  const table = tableFromIPC(bytes);
  const rows = table.toArray().map((row: Json) => plain(row.toJSON()));
  return { columns: table.schema.fields.map(({ name }) => name), rows, metadata: table.schema.metadata };
}

const fileOf = ({ bytes }: Answer) => Uint8Array.from(bytes).buffer;

const columnsOf = ({ schema }: FileMetaData) => schema.slice(1).map(({ name }) => name);

async function parquetRows(answer: Answer): Promise<Typed> {
  const file = fileOf(answer);
  const metadata = parquetMetadata(file);
  const beside = metadata.key_value_metadata?.map(({ key, value }) => [key, value!] as const);
  return {
    columns: columnsOf(metadata),
    rows: (await parquetReadObjects({ file, metadata, compressors })).map(plain),
    metadata: new Map(beside),
  };
}

/** Content of the headers beside a body without an envelope. */
function besideOf({ headers }: Answer): { meta: Json; data: Json } {
  const json = (name: string) => JSON.parse(String(headers[`x-itm-${name}`] ?? 'null'));
  const plane = headers['x-itm-plane'];
  return {
    meta: { ...json('extra'), caps: json('caps'), ...(plane === undefined ? {} : { plane }) },
    data: json('data'),
  };
}

const withTable = (path: string, name: string) => `${path}${path.includes('?') ? '&' : '?'}table=${name}`;

const forms = [csv, arrow, parquet, ndjson];
const contentTypes = new Map([
  [csv, 'text/csv; charset=utf-8; header=present'],
  [ndjson, 'application/jsonl; charset=utf-8'],
]);

/** Checks the body of one form of an answer. Returns the columns it has; null = its form has none. */
async function compareForm(asked: (typeof forms)[number], answer: Answer, of: Table): Promise<string[] | null> {
  const { path, data, meta, lead, lists } = of;
  expect(answer.headers['content-type'], path).toBe(contentTypes.get(asked) ?? asked.accept);
  if (asked === ndjson) {
    expect(jsonRows(answer), path).toStrictEqual(linesOf(data, lead));
    return null;
  }
  const isText = asked === csv;
  const { columns, rows, metadata } = isText
    ? { ...csvRows(answer), metadata: null }
    : await (asked === arrow ? arrowRows : parquetRows)(answer);
  const expected = rowsOf(data, lead, lists);
  expect(
    rows.map((row) => told(row)),
    path,
  ).toEqual(expected.map((row) => told(row, isText)));
  if (metadata) expect(JSON.parse(metadata.get('meta')!), path).toStrictEqual(meta);
  return columns;
}

/**
 * Compares forms of one answer with its JSON, for each of its tables; the status they have in common. The first table
 * is what comes by itself.
 */
async function compare(known: KnownRoute, written: string, credential: string, asked = forms): Promise<number> {
  const plain = await app.get(written, { credential });
  for (const [i, [name, lead]] of Object.entries(tablesOf[known.name]!).entries()) {
    const path = i === 0 ? written : withTable(written, name);
    const columns = new Set<string>();
    for (const form of asked) {
      const answer = await app.get(path, { credential, headers: form });
      expect(answer.status, path).toBe(plain.status);
      if (plain.status !== 200) {
        expect(answer.body, path).toStrictEqual(plain.body);
        continue;
      }
      const { data, meta } = plain.body;
      const lists = listNames(known.name);
      const found = await compareForm(form, answer, { path, data, meta, lead, lists });
      if (found) columns.add(found.join());
      const beside = besideOf(answer);
      expect(beside.meta, path).toStrictEqual(meta);
      expect(told(beside.data ?? {}), path).toEqual(told(Array.isArray(data) ? {} : flat(data, lists)));
    }
    if (plain.status !== 200) break;
    expect(columns.size, path).toBe(1);
  }
  return plain.status;
}

describe('a list of rows comes as CSV, as an Arrow stream and as a Parquet file, and as lines of JSON: the same rows as JSON, the rest in headers; errors stay JSON', () => {
  const offering = knownRoutes().filter(({ name }) => tablesOf[name]);
  test.each(offering.filter(({ name }) => !name.includes('/account/usage')))('$name', async (known) => {
    const served: string[] = [];
    for (const credential of callers) {
      for (const symbol of ['SPY', 'MSFT', 'ZZZ', 'QQQQ']) {
        const status = await compare(known, about(known.known.path, symbol), credential);
        if (symbol === 'SPY' && status === 200) served.push(credential);
      }
    }
    // Parameters mean the same for all callers who are served, and in all forms: two of these in turn.
    for (const [i, { path }] of madeRequests(known, 4, 5).entries())
      await compare(known, path, served[0]!, i % 2 === 0 ? [csv, ndjson] : [arrow, parquet]);
  });

  const severalTables = offering.filter(({ name }) => Object.keys(tablesOf[name]!).length > 1);
  test.each(severalTables)('$name gives its first table by its name too, and JSON by any', async ({ name, known }) => {
    const path = about(known.path, 'SPY');
    const [first, second] = Object.keys(tablesOf[name]!);
    const credential = callers[0]!;
    const bytesOf = async (asked: string, headers = {}) => (await app.get(asked, { credential, headers })).bytes;
    expect(await bytesOf(withTable(path, first!), csv)).toEqual(await bytesOf(path, csv));
    expect(await bytesOf(withTable(path, second!))).toEqual(await bytesOf(path));
  });

  test('usage, which the asking itself moves, comes with its columns', async () => {
    const { columns, rows } = csvRows(await app.get('/v2/account/usage', { credential: callers[1]!, headers: csv }));
    expect(columns).toEqual(['date', 'scope_group', 'count']);
    expect(rows.length).toBeGreaterThan(0);
  });

  test('every route whose answer has a list of rows offers all of them, and says so in the description', async () => {
    const { body } = await app.get('/v2/openapi.json', { credential: null });
    for (const { name, route } of knownRoutes()) {
      const operation = body.paths[route.path.replace(/:(\w+)/g, '{$1}')][route.method.toLowerCase()];
      const offered = Object.keys(operation.responses[200].content);
      const tables = Object.keys(tablesOf[name] ?? {});
      const asked = [csv, arrow, parquet, ndjson].map(({ accept }) => offered.includes(accept));
      expect([name, ...asked]).toEqual([name, ...asked.map(() => tables.length > 0)]);
      const parameter = operation.parameters.find((one: Json) => one.name === 'table');
      expect([name, parameter?.schema.enum]).toEqual([name, tables.length > 1 ? tables : undefined]);
    }
  });
});

describe('what a table holds', () => {
  const large = '/v2/flow/large-trades?symbol=SPY';

  test('an answer without rows has the columns all the same, of the same types', async () => {
    const typesOf = async (path: string) => {
      const { bytes } = await app.get(path, { headers: arrow });
      const { schema, numRows } = tableFromIPC(bytes);
      return { numRows, types: schema.fields.map(({ name, type, nullable }) => [name, String(type), nullable]) };
    };
    const some = await typesOf('/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01');
    const none = await typesOf('/v2/stocks/SPY/bars?from=2020-01-01&to=2020-01-02');
    expect([some.numRows > 0, none.numRows]).toEqual([true, 0]);
    expect(none.types).toEqual(some.types);
    expect(none.types.slice(2, 4)).toEqual([
      ['ts_ms', 'Int64', false],
      ['open', 'Float64', false],
    ]);
    const types = async (path: string) =>
      parquetMetadata(fileOf(await app.get(path, { headers: parquet })))
        .schema.slice(1)
        .map(({ name, type, repetition_type }) => [name, type, repetition_type]);
    const typed = await types('/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01');
    expect(await types('/v2/stocks/SPY/bars?from=2020-01-01&to=2020-01-02')).toEqual(typed);
    expect(typed.slice(2, 4)).toEqual([
      ['ts_ms', 'INT64', 'REQUIRED'],
      ['open', 'DOUBLE', 'REQUIRED'],
    ]);
    const { bytes } = await app.get('/v2/stocks/SPY/bars?from=2020-01-01&to=2020-01-02', { headers: csv });
    expect(bytes.toString()).toBe('symbol,timeframe,ts_ms,open,high,low,close,volume,vwap,trade_count\r\n');
  });

  test('an inner list repeats what the rows around it say', async () => {
    const { columns } = csvRows(await app.get(`${large}&table=legs`, { headers: csv }));
    expect(columns).toContain('update.event.event_id');
    expect(columns).toContain('update.event.legs.contract.strike');
    expect(new Set(columns).size).toBe(columns.length);
  });

  test('a table that is not there is refused by name', async () => {
    const { status, body } = await app.get(`${large}&table=leg`, { headers: csv });
    expect([status, body.error]).toEqual([
      400,
      {
        code: 'invalid_params',
        message: 'table: expected one of events, legs, got "leg"',
        details: { parameter: 'table' },
      },
    ]);
  });
});

describe('the form is negotiated as HTTP has it', () => {
  const path = '/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01';

  test.each([
    ['text/csv;q=0.5, application/json', 'application/json; charset=utf-8'],
    ['application/json;q=0.5, text/csv', 'text/csv; charset=utf-8; header=present'],
    ['text/*', 'text/csv; charset=utf-8; header=present'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/vnd.apache.arrow.stream, text/csv;q=0.9', arrow.accept],
    ['application/x-ndjson', 'application/x-ndjson; charset=utf-8'],
    ['application/*', 'application/json; charset=utf-8'],
    ['image/png', 'application/json; charset=utf-8'],
  ])('%s', async (accept, expected) => {
    const { headers } = await app.get(path, { headers: { accept } });
    expect(headers['content-type']).toBe(expected);
    expect(headers.vary).toContain('Accept');
  });

  test('every form of a sealed answer has a tag of its own, and is not sent again to whom has it', async () => {
    const tags = new Set<string>();
    for (const headers of [{}, csv, arrow, parquet, ndjson, { accept: 'application/x-protobuf' }]) {
      const first = await app.get(path, { headers });
      const tag = String(first.headers.etag);
      tags.add(tag);
      const again = await app.get(path, { headers: { ...headers, 'if-none-match': tag } });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
      const head = await app.send('HEAD', path, { headers });
      expect([head.headers.etag, head.bytes.length]).toEqual([tag, 0]);
      expect(head.headers['x-itm-extra']).toBe(first.headers['x-itm-extra']);
    }
    expect(tags.size).toBe(6);
  });

  test('an answer in none of the requested types says so, under a tag of its own; caches hold the one without', async () => {
    const noted = { accept: 'image/png, text/html;q=0.9' };
    const plain = await app.get(path);
    const answer = await app.get(path, { headers: noted });
    expect(answer.status).toBe(200);
    const types = `${['json', 'x-protobuf'].map((name) => `application/${name}`).join(', ')}, text/csv`;
    const { note, ...meta } = answer.body.meta;
    expect(note).toContain(
      `Accept: expected one of ${types}, ${arrow.accept}, ${parquet.accept}, ${ndjson.accept}, got "${noted.accept}".`,
    );
    expect({ ...answer.body, meta }).toEqual({ ...plain.body, meta: { ...plain.body.meta, note: undefined } });
    expect(answer.headers.etag).not.toBe(plain.headers.etag);
    const again = await app.get(path, { headers: { ...noted, 'if-none-match': String(answer.headers.etag) } });
    expect(again.status).toBe(304);
    expect((await app.get(path)).bytes.equals(plain.bytes)).toBe(true);
  });

  test.each([
    ['/v2/quotes?symbols=SPY', 'text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['/v2/quotes?symbols=SPY', 'application/*', false],
    ['/v2/quotes?symbols=SPY', '', false],
    ['/v2/symbols/SPY', 'text/csv, */*', false],
    ['/v2/symbols/SPY', 'text/csv', true],
    [`/v2/quotes?symbols=SPY`, `text/${'x'.repeat(2000)}`, true],
  ])('%s for %s: a short note only if nothing that is served is accepted', async (asked, accept, isNoted) => {
    const { body } = await app.get(asked, { headers: { accept } });
    expect(String(body.meta.note).includes('Accept: expected one of')).toBe(isNoted);
    expect(JSON.stringify(body.meta.note ?? '').length).toBeLessThan(500);
  });

  test('a Parquet file, whose pages are compressed, is not compressed again', async () => {
    const encoded = { 'accept-encoding': 'gzip' };
    const [asParquet, asArrow] = await Promise.all(
      [parquet, arrow].map((headers) => app.get(path, { headers: { ...headers, ...encoded } })),
    );
    expect(asArrow!.headers['content-encoding']).toBe('gzip');
    expect(asParquet!.headers).not.toHaveProperty('content-encoding');
    expect(asParquet!.bytes.subarray(0, 4).toString()).toBe('PAR1');
  });
});
