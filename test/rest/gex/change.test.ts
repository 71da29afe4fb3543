import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/access/caller.ts';
import { type GexCapture, gexCauses } from '../../../src/core/domain/gex/gex.ts';
import { gexDiff } from '../../../src/resolvers/chain/gex-diff.ts';
import { requestContext, type Services } from '../../../src/resolvers/context.ts';
import { encodeId } from '../../../src/schema/node-id.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { quotedChain, solvedPair } from '../../support/hand-made-capture.ts';
import { gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const [before, today] = ['2026-11-19', '2026-11-20'];
const times = [newYork(before, '15:55'), newYork(before, '16:00'), newYork(today, '11:55')] as const;
let app: TestApp;
let captures: GexCapture[];

beforeAll(async () => {
  app = await testApp({ nowMs });
  const chains = times.map((atMs, i) =>
    quotedChain({
      root: 'SPXW',
      atMs,
      spot: 6000 + 15 * i,
      volatility: 0.16 + 0.01 * i,
      volume: 7 * (i + 1),
      expiries: i === 2 ? ['2026-11-27', '2026-12-31'] : [today, '2026-11-27'],
      strikes: [5900, 5940, 5960, 5980, 6000, 6020, 6040, 6060, 6100],
      openInterest: (strike, right) => ((right === 'put') === strike < 6000 ? 200 + 5 * i : 90 + (strike % 7)),
    }),
  );
  const pairs = await Promise.all(chains.map((chain) => solvedPair(chain)));
  captures = pairs.map(({ gex }) => gex);
  const made = [{ strike: 600_000, expiry: today, gex: 5 }];
  await saveCaptures(app.store, {
    gex: [...captures, ...times.map((atMs) => gexCapture('AAPL', atMs, made))],
    chains: pairs.map(({ chain }) => chain),
  });
});
afterAll(() => app.close());

/** A caller who may read every symbol. */
const pro: Caller = {
  accountId: 'a',
  kind: 'key',
  keyId: 'k',
  tier: 'pro',
  siteTier: 'pro',
  apiTier: 'pro',
  classification: 'non_professional',
  attested: true,
};

const change = (query: string, symbol = 'SPX', sending = {}) => app.get(`/v2/gex/${symbol}/change?${query}`, sending);
const units = (dollars: number) => Math.round(dollars * 1e4);
const moved = (name: 'netGex' | 'flipPoint' | 'zeroGamma' | 'callWall' | 'putWall', from = 1, to = 2) => {
  const [old, now] = [captures[from]![name], captures[to]![name]];
  return { from: old, to: now, moved: old === null || now === null ? null : now - old };
};

describe('GET /v2/gex/{symbol}/change', () => {
  test('says as of which knowledge it is, if asked for one', async () => {
    const { meta } = (await change(`from=${before}&to=${today}&known=${nowMs - 60_000}`)).body;
    expect(meta.known_at).toBe(nowMs - 60_000);
    expect((await change(`from=${before}&to=${today}`)).body.meta).not.toHaveProperty('known_at');
  });

  test('gives both captures, what moved between them, and the parts of the change, which add up to it', async () => {
    const { status, body, headers } = await change(`from=${before}&to=${today}`);
    expect(status).toBe(200);
    const { change: found, ...figures } = body.data;
    const capture = (i: number) => ({
      captured_at: times[i],
      session_date: captures[i]!.sessionDate,
      spot: 6000 + 15 * i,
      implied_spot: captures[i]!.impliedSpot,
    });
    expect(figures).toEqual({
      symbol: 'SPX',
      from: capture(1),
      to: capture(2),
      net_gex: moved('netGex'),
      flip_point: moved('flipPoint'),
      zero_gamma: moved('zeroGamma'),
      call_wall: moved('callWall'),
      put_wall: moved('putWall'),
    });
    expect(Math.abs(found.gex - figures.net_gex.moved)).toBeLessThan(54 * 1e-4);
    const names = gexCauses.map((cause) => (cause === 'openInterest' ? 'open_interest' : cause));
    for (const row of [found, ...found.strikes, ...found.expiries])
      expect(names.reduce((sum, name) => sum + units(row[name]), 0)).toBe(units(row.gex));
    for (const name of ['gex', ...names, 'call_oi', 'put_oi', 'volume']) {
      const sum = (rows: Json[]) => rows.reduce((total, row) => total + units(row[name]), 0);
      expect(sum(found.strikes)).toBe(units(found[name]));
      expect(sum(found.expiries)).toBe(units(found[name]));
    }
    expect(found).toMatchObject({ contracts_added: 18, contracts_removed: 18, residual: 0, volume: 36 * 7 });
    expect(found.expiries.map((row: Json) => [row.expiry, row.listing === row.gex])).toEqual([
      [today, true],
      ['2026-11-27', false],
      ['2026-12-31', true],
    ]);
    expect(body.meta).toEqual({
      caps: { applied: [], tier: 'pro' },
      plane: 'live',
      reason: null,
      read_at_ms: expect.any(Number),
      flip_status: { from: captures[1]!.flipStatus, to: captures[2]!.flipStatus },
      inconsistent_expiries: expect.any(Array),
      spot_stale: false,
    });
    expect(headers['cache-control']).toBe('no-store');
  });

  test('takes the last capture at or before a time, read in tz; of a past pair the answer has an ETag', async () => {
    const tokyo = await change('from=2026-11-20T05:58&to=2026-11-20T06:30&tz=Asia/Tokyo');
    expect(tokyo.body.data).toMatchObject({ from: { captured_at: times[0] }, to: { captured_at: times[1] } });
    expect(tokyo.body.data.net_gex).toEqual(moved('netGex', 0, 1));
    expect(tokyo.body.data.change).toMatchObject({ listing: 0, contracts_added: 0 });
    const path = `from=${times[0]}&to=${before}`;
    const past = await change(path);
    expect(past.body).toMatchObject({ data: { to: { captured_at: times[1] } }, meta: { plane: 'archive' } });
    const again = await change(path, 'SPX', { headers: { 'If-None-Match': past.headers.etag } });
    expect(again.status).toBe(304);
  });

  test('from equal to to is all zero', async () => {
    const { body } = await change(`from=${before}&to=${before}`);
    expect(body.data.change).toMatchObject({
      gex: 0,
      spot: 0,
      time: 0,
      volatility: 0,
      open_interest: 0,
      listing: 0,
      residual: 0,
      call_oi: 0,
      put_oi: 0,
      volume: 0,
      contracts_added: 0,
      contracts_removed: 0,
    });
    expect(body.data.net_gex.moved).toBe(0);
  });

  test('requests at the same time share the computation of a change', async () => {
    const sources = { bars: true, chain: true, option_tape: true, stock_tape: true, option_bars: true };
    const services = { store: app.store, sources, now: () => nowMs } as unknown as Services;
    const loaded = async () => {
      const points = { from: { time: `${before}T15:55` }, to: { time: today } };
      const diff = await gexDiff(
        requestContext(services, pro, () => {}),
        'SPX',
        points,
      );
      expect(await diff.meta.reason()).toBeNull();
      return diff;
    };
    const both = [await loaded(), await loaded()];
    const [one, other] = await Promise.all(both.map((diff) => diff.change()));
    expect(one).not.toBeNull();
    expect(other).toBe(one);
    expect(await (await loaded()).change()).toBe(one);
  });

  test('without a capture, or what it was priced with, there is no change, and meta says why', async () => {
    const early = await change(`from=2026-11-18&to=${today}`);
    expect(early.body).toMatchObject({
      data: { from: null, to: { captured_at: times[2] }, change: null, net_gex: { from: null, moved: null } },
      meta: { reason: 'no_from', flip_status: { from: null } },
    });
    const none = await change(`from=2026-11-17&to=2026-11-18`);
    expect(none.body).toMatchObject({ data: { from: null, to: null, change: null }, meta: { reason: 'no_from' } });
    const old = await change(`from=${before}&to=${today}`, 'AAPL');
    expect(old.body).toMatchObject({ data: { change: null, net_gex: { moved: 0 } }, meta: { reason: 'no_inputs' } });
  });

  test('top keeps the strikes with the largest change; strikes and expiries come as CSV', async () => {
    const all = (await change(`from=${before}&to=${today}`)).body.data.change;
    const top = (await change(`from=${before}&to=${today}&top=2`)).body.data.change;
    const largest = all.strikes.toSorted((a: Json, b: Json) => Math.abs(b.gex) - Math.abs(a.gex)).slice(0, 2);
    expect(top).toEqual({ ...all, strikes: largest.sort((a: Json, b: Json) => a.strike - b.strike) });
    const csv = async (query: string) => {
      const { bytes } = await change(`from=${before}&to=${today}${query}`, 'SPX', { headers: { Accept: 'text/csv' } });
      return bytes.toString().trimEnd().split('\r\n');
    };
    const columns = 'gex,spot,time,volatility,open_interest,listing,residual,call_oi,put_oi,volume';
    const strikes = await csv('');
    expect(strikes[0]).toBe(`strike,${columns}`);
    expect(strikes.slice(1).map((line) => Number(line.split(',')[1]))).toEqual(all.strikes.map((row: Json) => row.gex));
    expect(await csv('&table=expiries')).toHaveLength(4);
    expect((await csv('&table=expiries'))[0]).toBe(`expiry,${columns}`);
  });

  test('rejects what is no pair of times, and callers who may not read the symbol', async () => {
    const failing = async (query: string, sending = {}) => {
      const { status, body } = await change(query, 'SPX', sending);
      return [status, body.error.code, body.error.message];
    };
    const order = 'from: expected from to be at or before to';
    expect(await failing(`from=${today}&to=${before}`)).toEqual([400, 'invalid_params', order]);
    expect(await failing(`from=${today}&to=${before}T16:00`)).toEqual([400, 'invalid_params', order]);
    expect(await failing(`from=2026-11-20T11:00&to=2026-11-20T10:00`)).toEqual([400, 'invalid_params', order]);
    expect((await failing(`to=${before}`))[2]).toMatch(/^from: /);
    expect((await failing(`from=soon&to=${before}`))[2]).toMatch(/^from: /);
    expect((await failing(`from=${before}&to=${today}&top=0`))[2]).toMatch(/^top: /);
    const pair = `from=${before}&to=${today}`;
    const [basic, undeclared] = [{ apiTier: 'basic' }, { apiTier: 'pro', classification: null }] as const;
    expect((await failing(pair, { credential: await app.key(basic) }))[1]).toBe('not_entitled_tier');
    expect((await failing(pair, { credential: await app.key(undeclared) }))[1]).toBe('attestation_required');
  });
});

describe('SymbolGex.diff', () => {
  const fields = '{ from { id } netGex { moved } change { gex spot strikes { strike gex } } meta { reason } }';
  const ask = (selection: string) => app.graphql(`{ symbol(symbol: "SPX") { gex { ${selection} } } }`);

  test('says the same of ids, times and dates, under any alias', async () => {
    const [from, to] = [1, 2].map((i) => encodeId('GexCapture', `SPX:${times[i]}:net:all`));
    const { data } = await ask(`
      dates: diff(from: "${before}", to: "${today}") ${fields}
      ids: diff(from: "${from}", to: "${to}") ${fields}
      times: diff(from: ${times[1]}, to: "2026-11-20T17:00Z") ${fields}
      byExpiry: diff(from: "${encodeId('GexCapture', `SPX:${times[1]}:expiry:5`)}", to: "${to}") ${fields}`);
    const { dates, ...others } = data.symbol.gex;
    expect(dates.from.id).toBe(from);
    expect(dates.change.gex).not.toBe(0);
    for (const other of Object.values(others)) expect(other).toEqual(dates);
  });

  test('an id that is of no capture of the symbol is rejected or has no capture', async () => {
    const other = encodeId('GexCapture', `AAPL:${times[1]}:net:all`);
    const wrong = await ask(`diff(from: "${other}", to: "${today}") ${fields}`);
    expect(wrong.errors![0].message).toBe('from: expected a capture of SPX, got one of AAPL');
    const gone = encodeId('GexCapture', `SPX:${times[1] + 1}:net:all`);
    const none = await ask(`diff(from: "${gone}", to: "${today}") ${fields}`);
    expect(none.data.symbol.gex.diff).toMatchObject({ from: null, change: null, meta: { reason: 'no_from' } });
    const text = await ask(`diff(from: "${encodeId('Symbol', 'SPX')}", to: "${today}") ${fields}`);
    expect(text.errors![0].extensions.code).toBe('invalid_params');
  });
});

describe('Symbol.chainDiff', () => {
  const ask = (args: string) =>
    app.graphql(`{ symbol(symbol: "SPX") { chainDiff(from: "${before}", ${args}) {
      fromCapturedAt toCapturedAt
      rows { contract { expiry strike right } from { openInterest iv } to { openInterest iv }
        moved { openInterest volume iv } } } } }`);
  const pairs = async (args: string) => (await ask(args)).data.symbol.chainDiff;

  test('has the rows of each contract in both chains, and what moved', async () => {
    const { rows, ...ends } = await pairs(`to: "${today}"`);
    expect(ends).toEqual({ fromCapturedAt: times[1], toCapturedAt: times[2] });
    expect(rows).toHaveLength(18 * 3);
    const sides = (expiry: string) => {
      const [row] = rows.filter((each: Json) => each.contract.expiry === expiry);
      return [row.from !== null, row.to !== null, row.moved.volume];
    };
    expect([today, '2026-11-27', '2026-12-31'].map(sides)).toEqual([
      [true, false, null],
      [true, true, 7],
      [false, true, null],
    ]);
    for (const { from, to, moved } of rows.filter((row: Json) => row.from && row.to)) {
      expect(moved.openInterest).toBe(to.openInterest - from.openInterest);
      expect(moved.iv).toBe(from.iv === null || to.iv === null ? null : to.iv - from.iv);
    }
  });

  test('lists what was asked for: an expiry, strikes, and only contracts that changed', async () => {
    const { rows } = await pairs(`to: "${today}", expiry: "2026-11-27", strikeGte: 6000000, strikeLte: 6020000`);
    expect(rows.map(({ contract }: Json) => [contract.strike, contract.right])).toEqual([
      [6_000_000, 'call'],
      [6_000_000, 'put'],
      [6_020_000, 'call'],
      [6_020_000, 'put'],
    ]);
    expect((await pairs(`to: "${before}", changed: true`)).rows).toEqual([]);
    expect((await pairs(`to: "${before}"`)).rows).toHaveLength(36);
    const late = await ask('to: "2026-11-18"');
    expect(late.errors![0].message).toBe('from: expected from to be at or before to');
  });
});

describe('SymbolGex.sessions', () => {
  const ask = (args: string, symbol = 'SPX', sending = {}) =>
    app.graphql(
      `{ symbol(symbol: "${symbol}") { gex { sessions${args} {
        sessionDate capturedAt spot netGex flipPoint flipStatus zeroGamma callWall putWall } } } }`,
      {},
      sending,
    );

  test('has a row per session, newest first, of its last capture', async () => {
    const row = (i: number) => {
      const { sessionDate, netGex, flipPoint, flipStatus, zeroGamma, callWall, putWall } = captures[i]!;
      const figures = { sessionDate, netGex, flipPoint, flipStatus, zeroGamma, callWall, putWall };
      return { capturedAt: times[i], spot: 6000 + 15 * i, ...figures };
    };
    expect((await ask('')).data.symbol.gex.sessions).toEqual([row(2), row(1)]);
    expect((await ask('(first: 1)')).data.symbol.gex.sessions).toEqual([row(2)]);
    expect((await ask('', 'NVDA')).data.symbol.gex.sessions).toEqual([]);
    app.clock.nowMs = newYork(before, '15:57');
    expect((await ask('')).data.symbol.gex.sessions).toEqual([row(0)]);
    app.clock.nowMs = nowMs;
  });

  test('rejects less than one session, and callers who may not read the symbol', async () => {
    expect((await ask('(first: 0)')).errors![0].message).toMatch(/^first: /);
    const denied = await ask('', 'SPX', { credential: await app.key({ apiTier: 'basic' }) });
    expect(denied.errors![0].extensions.code).toBe('not_entitled_tier');
  });
});
