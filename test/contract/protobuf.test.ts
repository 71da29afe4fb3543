import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, type Json, type TestApp, testApp } from '../support/app.ts';
import { filledApp, filledNowMs } from '../support/filled-market.ts';
import { about, type KnownRoute, knownRoutes } from './known-routes.ts';
import { madeRequests } from './requests.ts';

// As clients decode it: numbers and types of contract-notes 4, not those of the served schema.
const { root } = protobuf.parse(
  `
  syntax = "proto3";
  message BarsResponse { uint32 price_scale = 1; optional uint64 complete_through_ms = 2; optional sint32 prior_close_scaled = 3; repeated Bar bars = 4; string cursor = 5; }
  message Bar { uint64 ts_ms = 1; sint32 o = 2; sint32 h = 3; sint32 l = 4; sint32 c = 5; optional uint32 v = 6; optional sint32 vwap = 7; optional uint32 n = 8; }
  message GexGridResponse { optional uint64 captured_at_ms = 1; optional double spot = 2; optional double prior_close_spot = 3; double net_gex = 4; optional double flip_point = 5; double max_abs_gex = 6; bool adhoc = 7; repeated GexGridRow rows = 8; optional double net_gex_shares = 9; optional double max_abs_gex_shares = 10; }
  message GexGridRow { int64 strike_thousandths = 1; double gex = 2; optional double gex_0dte = 3; optional int32 call_oi = 4; optional int32 put_oi = 5; optional double delta_adj = 6; optional int32 expiry_epoch_day = 7; optional double gex_shares = 8; optional double gex_0dte_shares = 9; optional double delta_adj_shares = 10; }
  message ChainResponse { optional uint64 captured_at_ms = 1; optional double spot = 2; bool partial = 3; repeated ChainRow rows = 4; }
  message ChainRow { int32 expiry_epoch_day = 1; uint32 right = 2; int64 strike_thousandths = 3; optional int64 oi = 4; optional int64 volume = 5; optional double bid = 6; optional double ask = 7; optional double last = 8; optional double fmv = 9; optional double iv = 10; optional double delta = 11; optional double gamma = 12; optional double theta = 13; optional double vega = 14; uint32 shares_per_contract = 15; optional string root = 16; }
  message OffExchangeActivityResponse { repeated OffExchangeActivityRow rows = 1; }
  message OffExchangeActivityRow { string date = 1; double off_exchange_volume = 2; double notional = 3; uint64 trade_count = 4; double average_size = 5; double vwap = 6; optional double off_exchange_share = 7; optional double consolidated_volume = 8; optional double consolidated_notional = 9; }
  message OffExchangeConcentrationResponse { repeated OffExchangeConcentrationRow rows = 1; }
  message OffExchangeConcentrationRow { string date = 1; double bucket_midpoint = 2; double bucket_width = 3; double volume = 4; double notional = 5; uint64 trade_count = 6; uint32 distinct_sessions = 7; double rank_score = 8; uint32 rank = 9; uint32 bucket_count = 10; optional double distance_bps = 11; uint32 lookback_sessions = 12; }
  message OffExchangeProfileResponse { repeated OffExchangeProfileRow rows = 1; }
  message OffExchangeProfileRow { string date = 1; int64 price_thousandths = 2; double volume = 3; double notional = 4; uint64 trade_count = 5; }
  message OffExchangeCompositionResponse { repeated OffExchangeCompositionRow rows = 1; }
  message OffExchangeCompositionRow { string date = 1; string category = 2; double volume = 3; double notional = 4; uint64 trade_count = 5; double share_of_off_exchange_notional = 6; }
`,
  { keepCase: true },
);

/** Renames keys; what is not named stays. */
const renamed = (row: Json, names: Record<string, string>): Json =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [names[key] ?? key, value]));
/** Leaves out what is null: in protobuf it is not there. */
const withoutNulls = (row: Json): Json => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
const epochDay = (date: string) => Date.parse(date) / 86_400_000;
const fits = (value: number | null) => (value !== null && value <= 0xffff_ffff ? value : null);

const rowsAre = (names: Record<string, string>) => (data: Json) => ({
  rows: data.map((row: Json) => renamed(withoutNulls(row), names)),
});

/** Content that the message must hold, from the JSON answer. `sent` has what JSON does not say. */
const expectedOf: Record<string, (data: Json, meta: Json, sent: Json) => Json> = {
  BarsResponse: (data, meta, sent) => {
    const scaled = (price: number | null) => (price === null ? null : Math.round(price * sent.price_scale));
    return {
      price_scale: sent.price_scale,
      prior_close_scaled: sent.prior_close_scaled,
      complete_through_ms: meta.complete_through,
      bars: data.map((bar: Json) =>
        withoutNulls({
          ts_ms: bar.ts_ms,
          o: scaled(bar.open),
          h: scaled(bar.high),
          l: scaled(bar.low),
          c: scaled(bar.close),
          v: fits(bar.volume),
          vwap: scaled(bar.vwap),
          n: fits(bar.trade_count),
        }),
      ),
      cursor: meta.cursor ?? '',
    };
  },
  GexGridResponse: ({ strikes, captured_at, ...data }, _meta, sent) => ({
    ...data,
    captured_at_ms: captured_at,
    adhoc: sent.adhoc,
    rows: strikes.map(({ strike, expiry, ...row }: Json) =>
      withoutNulls({
        strike_thousandths: strike,
        ...row,
        expiry_epoch_day: expiry === undefined || expiry === null ? null : epochDay(expiry),
      }),
    ),
  }),
  ChainResponse: ({ rows, captured_at, ...data }) => ({
    ...data,
    captured_at_ms: captured_at,
    rows: rows.map(({ contract, ...row }: Json) => ({
      expiry_epoch_day: epochDay(contract.expiry),
      right: contract.right === 'put' ? 1 : 0,
      strike_thousandths: contract.strike,
      ...row,
    })),
  }),
  OffExchangeActivityResponse: rowsAre({
    off_exch_volume: 'off_exchange_volume',
    avg_size: 'average_size',
    off_exch_pct: 'off_exchange_share',
  }),
  OffExchangeConcentrationResponse: rowsAre({}),
  OffExchangeProfileResponse: rowsAre({}),
  OffExchangeCompositionResponse: rowsAre({ share_of_off_exch_notional: 'share_of_off_exchange_notional' }),
};

let app: TestApp;
let callers: string[];
const binary = { accept: 'application/x-protobuf' };
const offering = knownRoutes().filter(({ route }) => route.protobuf);

beforeAll(async () => {
  app = await filledApp();
  callers = [await app.key(), await app.session(), await app.key({ apiTier: 'free', classification: null })];
});
afterAll(() => app.close());

function decoded(name: string, bytes: Buffer): Json {
  const type = root.lookupType(name);
  return type.toObject(type.decode(bytes), { longs: Number, arrays: true, defaults: false });
}

/** Proto3 does not send what is zero, false or empty and not optional: put back, so that it equals what JSON says. */
function filledIn(name: string, message: Json): Json {
  const type = root.lookupType(name);
  const filled: Json = {};
  for (const field of type.fieldsArray) {
    const value = message[field.name];
    if (field.repeated) filled[field.name] = value.map((row: Json) => filledIn(field.type, row));
    else if (value !== undefined) filled[field.name] = value;
    else if (!field.options?.proto3_optional) {
      filled[field.name] = field.type === 'string' ? '' : field.type === 'bool' ? false : 0;
    }
  }
  return filled;
}

/** The meta object that the headers beside a protobuf body make up. */
function metaOf(headers: Answer['headers'], prefix: string): Json {
  const json = (name: string) => JSON.parse(String(headers[`${prefix}${name}`]));
  const plane = headers[`${prefix}plane`];
  return { ...json('extra'), caps: json('caps'), ...(plane === undefined ? {} : { plane }) };
}

async function compare(known: KnownRoute, path: string, credential: string): Promise<number> {
  const plain = await app.get(path, { credential });
  const answer = await app.get(path, { credential, headers: binary });
  expect(answer.status, path).toBe(plain.status);
  if (plain.status !== 200) {
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    expect(answer.body, path).toStrictEqual(plain.body);
    return plain.status;
  }
  expect(answer.headers['content-type'], path).toBe('application/x-protobuf');
  expect(metaOf(answer.headers, 'x-itm-'), path).toStrictEqual(plain.body.meta);
  const name = known.route.protobuf!.name;
  const message = filledIn(name, decoded(name, answer.bytes));
  const expected = expectedOf[name];
  if (!expected) throw new Error(`nothing is known of the message ${name} of ${known.name}`);
  // An unknown value of a field that is not optional is zero.
  expect(message, path).toEqual(filledIn(name, withoutNulls(expected(plain.body.data, plain.body.meta, message))));
  return 200;
}

describe('a protobuf answer holds what the JSON answer says, its headers what meta says; errors stay JSON', () => {
  test.each(offering)('$name', async (known) => {
    const seen = new Set<number>();
    const symbols = ['SPY', 'MSFT', 'BRK.B', 'ZZZ', 'QQQQ'];
    for (const credential of callers)
      for (const symbol of symbols) seen.add(await compare(known, about(known.known.path, symbol), credential));
    // Parameters mean the same for both who may read everything.
    for (const [i, { path }] of madeRequests(known, 8, 3).entries())
      seen.add(await compare(known, path, callers[i % 2]!));
    expect(seen).toContain(200);
    expect([...seen].some((status) => status >= 400)).toBe(true);
  });

  test('the scale of prices is 10000, and smaller where one would not fit', async () => {
    const scaleOf = async (symbol: string) => {
      const { bytes } = await app.get(`/v2/stocks/${symbol}/bars?from=2026-11-30&to=2026-12-01`, { headers: binary });
      return decoded('BarsResponse', bytes).price_scale;
    };
    expect(await scaleOf('SPY')).toBe(10_000);
    expect(await scaleOf('BRK.B')).toBe(1000);
  });

  test('the close before the first bar is the one JSON has of the session before', async () => {
    const { bytes } = await app.get('/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01', { headers: binary });
    const days = await app.get('/v2/stocks/SPY/bars?timeframe=1d&from=2026-11-27&to=2026-11-28');
    expect(decoded('BarsResponse', bytes).prior_close_scaled).toBe(Math.round(days.body.data[0].close * 10_000));
  });
});

describe('what is asked for decides', () => {
  test('a route without a message answers JSON; so does every other Accept', async () => {
    for (const { known, route } of knownRoutes().filter(({ route }) => route.method === 'GET')) {
      const path = about(known.path, 'SPY');
      const accepts = route.protobuf ? ['*/*', 'text/html', 'application/json'] : ['application/x-protobuf'];
      for (const accept of accepts) {
        const { headers } = await app.get(path, { credential: callers[1]!, headers: { accept } });
        expect([path, accept, headers['content-type']]).toEqual([path, accept, 'application/json; charset=utf-8']);
      }
    }
  });

  test('the two forms of a sealed answer carry different tags', async () => {
    const path = '/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01';
    const plain = await app.get(path);
    const answer = await app.get(path, { headers: binary });
    expect(plain.headers.etag).toBeDefined();
    expect(answer.headers.etag).not.toBe(plain.headers.etag);
    const again = await app.get(path, { headers: { ...binary, 'if-none-match': answer.headers.etag! } });
    expect(again.status).toBe(304);
  });

  test('the prefix of the headers is a setting', async () => {
    const other = await testApp({ nowMs: filledNowMs, env: { META_HEADER_PREFIX: 'X-Tape-' } });
    try {
      const path = '/v2/stocks/SPY/bars?from=2026-11-30&to=2026-12-01';
      const { body } = await other.get(path);
      const { headers } = await other.get(path, { headers: binary });
      expect(metaOf(headers, 'x-tape-')).toStrictEqual(body.meta);
      expect(Object.keys(headers).filter((name) => name.startsWith('x-itm-'))).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('the served schema names the messages, and is text', async () => {
    const { headers, bytes } = await app.get('/v2/rest-protocol.proto', { credential: null });
    expect(headers['content-type']).toMatch(/^text\/plain/);
    const served = protobuf.parse(bytes.toString(), { keepCase: true }).root;
    const all = served.nested!;
    for (const type of root.nestedArray.filter((one) => one instanceof protobuf.Type)) {
      const twin = (served.lookupType(type.name) ?? all) as protobuf.Type;
      const facts = (of: protobuf.Type) =>
        of.fieldsArray.map(({ name, id, type: of, repeated }) => [name, id, of.split('.').at(-1), repeated]);
      expect([type.name, facts(twin)]).toEqual([type.name, facts(type)]);
    }
  });
});
