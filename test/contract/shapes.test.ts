import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, TestApp } from '../support/app.ts';
import { filledApp, filledContract } from '../support/filled-market.ts';
import { about, knownRoutes } from './known-routes.ts';

/** Keys of an object, absent where `?` says so; a list of one shape; a kind of value, `|null` if it may be unknown. */
type Shape = string | readonly [Shape] | { readonly [key: string]: Shape };

const contract = { underlying: 'text', expiry: 'date', right: 'text', strike: 'int' };
const coverage = {
  status: 'text',
  complete: 'flag',
  session_date: 'date',
  observed_from_ms: 'int',
  observed_through_ms: 'int',
  registry_version: 'int',
  standard_multiplier_assumed: 'flag',
};
const leg = {
  contract,
  price: 'number',
  size: 'int',
  premium_usd: 'number',
  exchange: 'int',
  conditions: 'ints',
  event_ts_ms: 'int',
  sequence: 'int',
  side: 'text',
  multi_leg: 'flag',
};
const event = {
  event_id: 'text',
  event_kind: 'text',
  underlying: 'text',
  event_ts_ms: 'int',
  legs: [leg] as const,
  total_size: 'int',
  premium_usd: 'number',
  price_low: 'number',
  price_high: 'number',
  side: 'text',
  multi_leg: 'flag',
};
const measures = {
  call_volume: 'int',
  put_volume: 'int',
  call_premium_usd: 'number',
  put_premium_usd: 'number',
  call_trade_count: 'int',
  put_trade_count: 'int',
};
const print = {
  print_id: 'text',
  event_id: 'text',
  underlying: 'text',
  contract,
  price: 'number',
  size: 'int',
  premium_usd: 'number',
  exchange: 'int',
  conditions: 'ints',
  event_ts_ms: 'int',
  sequence: 'int',
  session_date: 'date',
  coverage_status: 'text',
  rank: 'int|null',
};
const ohlc = { open: 'number', high: 'number', low: 'number', close: 'number', volume: 'int' };
const bar = { ...ohlc, ts_ms: 'int', vwap: 'number|null', trade_count: 'int|null' };
const strike = {
  strike: 'int',
  gex: 'number',
  call_oi: 'int|null',
  put_oi: 'int|null',
  delta_adj: 'number|null',
  'gex_0dte?': 'number|null',
  'expiry?': 'date',
};
const sample = { ts_ms: 'int', iv: 'number|null', delta: 'number|null', gamma: 'number|null', mark: 'number' };
const latest = { ...sample, mark_source: 'text', bid: 'number|null', ask: 'number|null', spread: 'number|null' };
const watchlist = { id: 'text', name: 'text', symbols: ['text'] as const };
const execution = { date: 'date', volume: 'number', notional: 'number', trade_count: 'int' };

/** The data of each route that the contract shows (spec 2 and 4). */
const shapes: Record<string, Shape> = {
  'GET /v2/symbols/:symbol': {
    symbol: 'text',
    name: 'text',
    class: 'text',
    min_tier: 'text',
    requires_attestation: 'flag',
    chain_policy: { window_days: 'int', tenor_frame: 'text' },
  },
  'GET /v2/quotes': [
    {
      symbol: 'text',
      spot: 'number|null',
      change_pct: 'number|null',
      net_gex: 'null',
      gex_change: 'null',
      volume: 'int|null',
      official_close: 'number|null',
      session_date: 'date|null',
      event_ts_ms: 'int|null',
    },
  ],
  'GET /v2/symbols/:symbol/spot': { symbol: 'text', price: 'number|null', ts: 'int|null' },
  'GET /v2/account/usage': {
    trailing_days: 'int',
    by_day: [{ date: 'date', scope_group: 'text', count: 'int' }],
    totals_by_scope_group: 'object',
    rate_limit: { per_min: 'int' },
  },
  'GET /v2/gex/:symbol/history': {
    symbol: 'text',
    session_date: 'date',
    captures: [
      {
        captured_at: 'int',
        spot: 'number|null',
        prior_close_spot: 'number|null',
        net_gex: 'number',
        flip_point: 'number|null',
        strikes: [strike] as const,
      },
    ],
  },
  'GET /gex/:underlying/strikes': [
    {
      strike: 'int',
      gex: 'number',
      delta_adj_gex: 'number|null',
      call_oi: 'int|null',
      put_oi: 'int|null',
      'expiry?': 'date',
      'gex_0dte?': 'number|null',
    },
  ],
  'GET /v2/stocks/:symbol/bars': [{ symbol: 'text', timeframe: 'text', ...bar }],
  'GET /v2/flow/large-trades': {
    events: [{ symbol: 'text', seq: 'int', coverage, update: { kind: 'text', event } }],
  },
  'GET /v2/flow/:symbol/cross-section': {
    snapshot: {
      symbol: 'text',
      seq: 'int',
      coverage,
      update: {
        kind: 'text',
        by_strike: [{ strike_thousandths: 'int', measures }],
        by_expiration: [{ expiry: 'date', measures }],
      },
    },
  },
  'GET /v2/flow/eod': {
    session_date: 'date|null',
    'symbol?': 'text',
    tier: 'text',
    limit: 'int',
    coverage_status: 'text|null',
    scanned_at_ms: 'int|null',
    source: 'text|null',
    prints: [print] as const,
  },
  'GET /v2/options/:contract/greeks': { contract, latest, series: [sample] },
  'GET /v2/options/:contract/bars': { contract, timeframe: 'text', bars: [bar] },
  'GET /v2/screener/sectors': [{ sector: 'text', symbols: ['text'], avg_change_pct: 'number|null', count: 'int' }],
  'GET /v2/chain/:symbol/expirations': ['date'],
  'GET /v2/watchlists': [watchlist],
  'PUT /v2/watchlists/:id': watchlist,
  'POST /v2/journal/import': { created: 'int', skipped: 'int', errors: [{ row: 'int', code: 'text' }] },
  'GET /v2/offexchange/:symbol/concentration': [
    {
      ...execution,
      bucket_midpoint: 'number',
      bucket_width: 'number',
      distinct_sessions: 'int',
      rank_score: 'number',
      rank: 'int',
      bucket_count: 'int',
      distance_bps: 'number|null',
      lookback_sessions: 'int',
    },
  ],
  'GET /v2/offexchange/:symbol/activity': [
    {
      date: 'date',
      off_exch_volume: 'number',
      notional: 'number',
      trade_count: 'int',
      avg_size: 'number',
      vwap: 'number',
      off_exch_pct: 'number|null',
      consolidated_volume: 'number|null',
      consolidated_notional: 'number|null',
    },
  ],
  'GET /v2/offexchange/:symbol/composition': [{ ...execution, category: 'text', share_of_off_exch_notional: 'number' }],
};

const kinds: Record<string, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string' && value !== '',
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
  int: (value) => Number.isSafeInteger(value),
  number: (value) => Number.isFinite(value),
  ints: (value) => Array.isArray(value) && value.every(Number.isSafeInteger),
  flag: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null,
  null: (value) => value === null,
};

/** Differences of a value from a shape, with their paths. */
function misshapen(value: Json, shape: Shape, path: string): string[] {
  if (typeof shape === 'string')
    return shape.split('|').some((kind) => kinds[kind]!(value)) ? [] : [`${path}: ${JSON.stringify(value)}`];
  if (Array.isArray(shape)) {
    if (!Array.isArray(value) || value.length === 0) return [`${path}: no rows`];
    return value.flatMap((each, i) => misshapen(each, shape[0], `${path}[${i}]`));
  }
  if (typeof value !== 'object' || value === null) return [`${path}: ${JSON.stringify(value)}`];
  const entries = Object.entries(shape as Record<string, Shape>);
  const names = entries.map(([key]) => key.replace('?', ''));
  const more = Object.keys(value).filter((key) => !names.includes(key));
  const missing = entries.filter(([key]) => !key.endsWith('?') && !(key in value));
  return [
    ...more.map((key) => `${path}.${key}: more than the contract shows`),
    ...missing.map(([key]) => `${path}.${key}: absent`),
    ...entries.flatMap(([key, inner]) => {
      const name = key.replace('?', '');
      return name in value ? misshapen(value[name], inner, `${path}.${name}`) : [];
    }),
  ];
}

/** Parameters besides those of the examples, to see the keys that come with them. */
const besides: Record<string, readonly string[]> = {
  'GET /v2/gex/:symbol/history': ['by_expiry=true', 'top=2'],
  'GET /v2/flow/eod': ['right=call'],
  'GET /v2/stocks/:symbol/bars': ['timeframe=1d', 'timeframe=5m&adjusted=true'],
  'GET /v2/options/:contract/bars': ['tf=5m'],
};

let app: TestApp;
let accountId: string;
let credential: string;
beforeAll(async () => {
  app = await filledApp();
  accountId = await app.account();
  credential = await app.access.sessions.create(accountId, 3_600_000);
});
afterAll(() => app.close());

describe('the data of a route that the contract shows', () => {
  const named = new Map(knownRoutes().map((known) => [known.name, known]));

  test('is held for every one of them', () => {
    expect(Object.keys(shapes).filter((name) => !named.has(name))).toEqual([]);
    expect(Object.keys(shapes)).toHaveLength(20);
  });

  test.each(Object.entries(shapes))('%s has its keys and no others', async (name, shape) => {
    const { known, route } = named.get(name)!;
    await app.send('PUT', '/v2/watchlists/mine', { credential, body: '{"name":"Mine","symbols":["SPY"]}' });
    const id = (await known.prepare?.(app, accountId)) ?? 'mine';
    const path = about(known.path, 'SPY', id);
    const body = known.body && about(known.body, 'SPY', id);
    const { contentType } = known;
    for (const more of ['', ...(besides[name] ?? [])]) {
      const asked = more && new URLSearchParams(more);
      const url = new URL(path, 'http://localhost');
      for (const [key, value] of asked || []) url.searchParams.set(key, value);
      const sending = { credential, ...(body && { body }), ...(contentType && { contentType }) };
      const answer = await app.send(route.method, `${url.pathname}${url.search}`, sending);
      expect([more, answer.status]).toEqual([more, 200]);
      expect(misshapen(answer.body.data, shape, 'data')).toEqual([]);
    }
  });

  test('of a key is the same', async () => {
    const key = await app.key();
    const { body } = await app.get(`/v2/options/${filledContract('SPY')}/greeks`, { credential: key });
    expect(misshapen(body.data, shapes['GET /v2/options/:contract/greeks']!, 'data')).toEqual([]);
  });
});
