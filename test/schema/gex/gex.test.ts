import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { saveOpenInterest } from '../../../src/store/chain/open-interest.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { anyChange } from '../../../src/store/versions/subjects.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { chainCapture, chainRow, gexCapture, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const [before, today] = ['2026-11-19', '2026-11-20'];
let app: TestApp;

const rows = [
  { strike: 590_000, expiry: today, gex: -600.5 },
  { strike: 600_000, expiry: today, gex: 1201, deltaAdj: null },
  { strike: 600_000, expiry: '2026-12-18', gex: 300.25, deltaAdj: 60.05 },
];
const contract = { root: 'SPY', expiry: today, strike: 600_000 } as const;
const chainRows = [
  chainRow({ root: 'SPY', expiry: today, right: 'call', strike: 590_000, openInterest: 11 }),
  chainRow({ ...contract, right: 'call', openInterest: 21, bid: 1.5, ask: 1.6, iv: 0.1286 }),
  chainRow({ ...contract, right: 'put', openInterest: 0 }),
  chainRow({ root: 'SPY', expiry: '2026-12-18', right: 'put', strike: 600_000, openInterest: 41 }),
];

const checked = {
  impliedSpot: 600.25,
  spotStale: true,
  inconsistentExpiries: 1,
  profile: [
    { price: 480.2, gex: -12.5 },
    { price: 720.3, gex: 1 / 3 },
  ],
};

/** Makes captures what versions 1 and 2 of the methodology store. */
async function asOfMethodology2(underlying: string): Promise<void> {
  await app.store.pool.query(
    `UPDATE gex_captures SET methodology_version = '2', flip_status = NULL, call_wall = net_call_wall,
     put_wall = net_put_wall, net_call_wall = NULL, net_put_wall = NULL WHERE underlying = $1 AND session_date = $2`,
    [underlying, before],
  );
}

beforeAll(async () => {
  app = await testApp({ nowMs });
  await saveCaptures(app.store, {
    gex: [
      gexCapture('SPY', newYork(before, '10:00'), rows.slice(0, 1), { spot: null }),
      gexCapture('SPY', newYork(before, '16:00'), rows.slice(0, 2), { spot: null, priorCloseSpot: null }),
      gexCapture('SPY', newYork(today, '11:55'), rows, checked),
      gexCapture('SPY', newYork(today, '12:05'), rows),
      gexCapture('XOM', newYork(before, '09:35'), rows, { flipPoint: 777.5 }),
      ...['AAPL', 'XOM', 'SPX'].map((symbol) => gexCapture(symbol, newYork(today, '11:55'), rows)),
    ],
    chains: [
      chainCapture('SPY', newYork(today, '11:55'), chainRows),
      chainCapture('SPX', newYork(today, '11:55'), [
        chainRow({ root: 'SPXW', expiry: today, right: 'put', strike: 5_000_000 }),
      ]),
      ...['AAPL', 'XOM'].map((root) =>
        chainCapture(
          root,
          newYork(today, '11:55'),
          chainRows.map((row) => ({ ...row, root })),
        ),
      ),
    ],
  });
  await asOfMethodology2('XOM');
});
afterAll(() => app.close());

async function gex(selection: string, symbol = 'SPY'): Promise<Json> {
  const { data, errors } = await app.graphql(`{ symbol(symbol: "${symbol}") { gex { ${selection} } } }`);
  expect(errors).toBeUndefined();
  return data.symbol.gex;
}

describe('Symbol.gex', () => {
  test('a capture of methodology 2 keeps its version, and its walls are served as the peaks that they are', async () => {
    const fields = 'methodologyVersion callWall putWall callGexPeak putGexPeak flipPoint flipStatus zeroGamma';
    const { at } = await gex(`at(time: "${before}T09:40") { ${fields} }`, 'XOM');
    expect(at).toEqual({
      methodologyVersion: '2',
      callWall: null,
      putWall: null,
      callGexPeak: 610_000,
      putGexPeak: 590_000,
      flipPoint: 777.5,
      flipStatus: 'remote',
      zeroGamma: 601.125,
    });
  });

  test('latest is the last capture up to now, with dollars and shares and every figure of the capture', async () => {
    const { latest } = await gex(`latest {
      underlying capturedAt sessionDate spot priorCloseSpot netGex netGexShares flipPoint zeroGamma callWall putWall callGexPeak putGexPeak netVanna netCharm
      gammaSource oiCoverage contractCount gammaAbsent methodologyVersion
      impliedSpot spotStale inconsistentExpiries flipStatus flipIsRemote profile { price gex }
      expiries { expiry maxPain expectedMoveStraddle expectedMoveSigma atmIv moveRatio inconsistent }
      strikes { strike expiry gex gexShares deltaAdj deltaAdjShares callOi putOi gex0dte gex0dteShares } }`);
    expect(latest).toEqual({
      underlying: 'SPY',
      capturedAt: newYork(today, '11:55'),
      sessionDate: today,
      spot: 600.5,
      priorCloseSpot: 598.25,
      netGex: 900.75,
      netGexShares: 1.5,
      flipPoint: expect.any(Number),
      zeroGamma: 601.125,
      callWall: 610_000,
      putWall: 590_000,
      callGexPeak: 605_000,
      putGexPeak: 600_000,
      netVanna: 1234.5,
      netCharm: -678.9,
      gammaSource: 'solve',
      oiCoverage: 0.987,
      contractCount: 6,
      gammaAbsent: 3,
      methodologyVersion: '3',
      impliedSpot: 600.25,
      spotStale: true,
      inconsistentExpiries: 1,
      flipStatus: 'crosses',
      flipIsRemote: false,
      profile: checked.profile,
      expiries: [today, '2026-12-18'].map((expiry) => ({
        expiry,
        maxPain: 600_000,
        expectedMoveStraddle: 7.25,
        expectedMoveSigma: 8.5,
        atmIv: 0.15,
        moveRatio: 0.935,
        inconsistent: false,
      })),
      strikes: [
        {
          strike: 590_000,
          expiry: null,
          gex: -600.5,
          gexShares: -1,
          deltaAdj: -300.25,
          deltaAdjShares: -0.5,
          callOi: 10,
          putOi: null,
          gex0dte: -600.5,
          gex0dteShares: -1,
        },
        {
          strike: 600_000,
          expiry: null,
          gex: 1501.25,
          gexShares: 2.5,
          deltaAdj: 60.05,
          deltaAdjShares: expect.closeTo(0.1, 9),
          callOi: 20,
          putOi: null,
          gex0dte: 1201,
          gex0dteShares: 2,
        },
      ],
    });
  });

  test('shares fall back on the prior close, and are unknown without a price', async () => {
    const selection = 'spot netGexShares strikes { gexShares deltaAdjShares }';
    const { early, late } = await gex(
      `early: at(time: "${before}T12:00") { ${selection} } late: at(time: "${before}T20:00:00Z") { ${selection} }
       `.replace('20:00:00Z', '21:00:00Z'),
    );
    expect(early.netGexShares).toBeCloseTo(-600.5 / 598.25, 12);
    expect(late).toMatchObject({ netGexShares: null, strikes: [{ gexShares: null }, { gexShares: null }] });
  });

  test('topStrikes and byExpiry choose rows; at takes an instant, a local time, or a date whose last capture is meant', async () => {
    const { top, expiry, date, none } = await gex(`
      top: latest(topStrikes: 1) { netGex strikes { strike } }
      expiry: latest(topStrikes: 1, byExpiry: true) { strikes { strike expiry gex } }
      date: at(time: "${before}") { capturedAt }
      none: at(time: "2026-11-18") { capturedAt }`);
    expect(top).toEqual({ netGex: 900.75, strikes: [{ strike: 600_000 }] });
    expect(expiry.strikes).toEqual([
      { strike: 600_000, expiry: today, gex: 1201 },
      { strike: 600_000, expiry: '2026-12-18', gex: 300.25 },
    ]);
    expect(date.capturedAt).toBe(newYork(before, '16:00'));
    expect(none).toBeNull();
  });

  test('history by the graph is what REST serves', async () => {
    const { history } = await gex(`history(date: "${before}", top: 1) {
      symbol sessionDate meta { captureCount sessionOpen sessionClose top topDefaulted plane }
      captures { capturedAt netGex strikes { strike gex } } }`);
    const { body } = await app.get(`/v2/gex/SPY/history?date=${before}&top=1`);
    expect(history.captures).toEqual(
      body.data.captures.map((capture: Json) => ({
        capturedAt: capture.captured_at,
        netGex: capture.net_gex,
        strikes: capture.strikes.map(({ strike, gex }: Json) => ({ strike, gex })),
      })),
    );
    expect(history.meta).toEqual({
      captureCount: 2,
      sessionOpen: '09:30',
      sessionClose: '16:00',
      top: 1,
      topDefaulted: null,
      plane: 'archive',
    });
  });

  test('a strike row reaches the chain rows at its strike, a row by expiry only those of its expiry', async () => {
    const { net, expiry, old } = await gex(`
      net: latest { strikes { strike chain { contract { id } openInterest } } }
      expiry: latest(byExpiry: true) { strikes { expiry chain { contract { id } } } }
      old: at(time: "${before}") { strikes { chain { openInterest } } }`);
    expect(net.strikes[0].chain).toEqual([{ contract: { id: 'O:SPY261120C00590000' }, openInterest: 11 }]);
    expect(net.strikes[1].chain.map((row: Json) => row.openInterest)).toEqual([21, 0, 41]);
    expect(expiry.strikes[2]).toEqual({ expiry: '2026-12-18', chain: [{ contract: { id: 'O:SPY261218P00600000' } }] });
    // No chain is stored of that capture: nothing is made up from another one.
    expect(old.strikes[0].chain).toEqual([]);
  });

  test('what may not be read is null with an error at its path, and the rest stands', async () => {
    const credential = await app.key({ apiTier: 'basic' });
    const { data, errors } = await app.graphql(
      `{ symbol(symbol: "SPX") { symbol gex { latest { spot } history(date: "${today}") { symbol } } chain { spot }
           contracts(first: 1) { totalCount } expirations { dates } } }`,
      undefined,
      { credential },
    );
    expect(data.symbol).toEqual({
      symbol: 'SPX',
      gex: { latest: null, history: null },
      chain: null,
      contracts: null,
      expirations: { dates: [today] },
    });
    expect(errors!.map(({ path, extensions }) => [path.join('.'), extensions.code]).sort()).toEqual([
      ['symbol.chain', 'not_entitled_tier'],
      ['symbol.contracts', 'not_entitled_tier'],
      ['symbol.gex.history', 'not_entitled_tier'],
      ['symbol.gex.latest', 'not_entitled_tier'],
    ]);
  });

  test('a bad argument is an error of code invalid_params that names it', async () => {
    const { errors } = await app.graphql(
      `{ symbol(symbol: "SPY") { gex { latest(topStrikes: 0) { spot } history(date: "2026-11-21") { symbol } } contracts(first: 0) { totalCount } } }`,
    );
    expect(errors!.map(({ message, extensions }) => [extensions.code, message.split(':')[0]]).sort()).toEqual([
      ['invalid_params', 'date'],
      ['invalid_params', 'first'],
      ['invalid_params', 'topStrikes'],
    ]);
  });
});

describe('Symbol.chain and contracts', () => {
  test('chain serves the rows asked for, unknown as null and zero as zero', async () => {
    const { data } =
      await app.graphql(`{ symbol(symbol: "SPY") { chain(expiry: "${today}", strikeGte: 600000, strikeLte: 600000) {
      spot capturedAt partial meta { underlying rowCount plane }
      rows { contract { id } openInterest volume bid ask last fmv iv delta gamma theta vega sharesPerContract } } } }`);
    expect(data.symbol.chain).toEqual({
      spot: 600.5,
      capturedAt: newYork(today, '11:55'),
      partial: false,
      meta: { underlying: 'SPY', rowCount: 2, plane: 'live' },
      rows: [
        expect.objectContaining({
          contract: { id: 'O:SPY261120C00600000' },
          openInterest: 21,
          volume: null,
          bid: 1.5,
          iv: 0.1286,
        }),
        expect.objectContaining({
          contract: { id: 'O:SPY261120P00600000' },
          openInterest: 0,
          bid: null,
          sharesPerContract: 100,
        }),
      ],
    });
  });

  test('a symbol without a chain has an empty one', async () => {
    const { data } = await app.graphql(
      '{ symbol(symbol: "NOPE") { chain { spot capturedAt rows { bid } } expirations { dates } } }',
    );
    expect(data.symbol).toEqual({ chain: { spot: null, capturedAt: null, rows: [] }, expirations: { dates: [] } });
  });

  test('pages of contracts put together are the whole, in order; a foreign cursor is refused', async () => {
    const page = (args: string) =>
      app.graphql(
        `{ symbol(symbol: "SPY") { contracts(first: 2${args}) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } } } }`,
      );
    const first = (await page('')).data.symbol.contracts;
    const second = (await page(`, after: "${first.pageInfo.endCursor}"`)).data.symbol.contracts;
    expect([...first.nodes, ...second.nodes].map((node: Json) => node.id)).toEqual([
      'O:SPY261120C00590000',
      'O:SPY261120C00600000',
      'O:SPY261120P00600000',
      'O:SPY261218P00600000',
    ]);
    expect(first).toMatchObject({ totalCount: 4, pageInfo: { hasNextPage: true, hasPreviousPage: false } });
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const filtered = (await page(', right: put, strikeGte: 600000')).data.symbol.contracts;
    expect(filtered.nodes).toHaveLength(2);
    const foreign = await page(`, right: put, after: "${first.pageInfo.endCursor}"`);
    expect(foreign.errors![0].extensions.code).toBe('invalid_params');
  });

  test('a contract reaches its underlying and its line of the latest chain; outside the registry there is none', async () => {
    const fields =
      'id root expiry right strike style settlement multiplier underlying { symbol } openInterest chainRow { bid }';
    const { data, errors } = await app.graphql(`{
      a: contract(id: "o:spy261120c00600000") { ${fields} }
      b: contract(id: "O:SPXW261120P05000000") { ${fields} }
      c: contract(id: "O:SPY261120C00999000") { openInterest chainRow { bid } }
      d: contract(id: "O:ZZZ261120C00600000") { id } }`);
    expect(data).toEqual({
      a: {
        id: 'O:SPY261120C00600000',
        ...contract,
        right: 'call',
        style: 'american',
        settlement: 'pm',
        multiplier: 100,
        underlying: { symbol: 'SPY' },
        openInterest: 21,
        chainRow: { bid: 1.5 },
      },
      b: expect.objectContaining({
        root: 'SPXW',
        style: 'european',
        underlying: { symbol: 'SPX' },
        openInterest: null,
      }),
      c: { openInterest: null, chainRow: null },
      d: null,
    });
    expect(errors!.map(({ path, extensions }) => [path, extensions.code])).toEqual([[['d'], 'not_found']]);
  });
});

test.each([
  'gex { latest { spot strikes { strike } } }',
  // Without top, its rows are more items than start at once: then some symbols are read after others.
  'gex { grid(top: 2, byExpiry: true) { strikes { chain { bid } } } }',
  `gex { history(date: "${today}") { captures { spot } } }`,
  'chain { spot }',
  'contracts(first: 2) { nodes { openInterest } }',
  `expirations(at: "${today}") { dates }`,
])('many symbols cost as many statements as few: %s', async (selection) => {
  const cost = async (symbols: string[]) => {
    const query = `{ ${symbols.map((symbol, i) => `s${i}: symbol(symbol: "${symbol}") { ${selection} }`).join('\n')} }`;
    const ask = async () => {
      // Within a second the same question would have the same answer.
      app.clock.nowMs += 1000;
      expect((await app.graphql(query)).errors).toBeUndefined();
    };
    await ask();
    // Cached data would cost no statement.
    app.store.versions.move(anyChange);
    return (await statementsOf(ask)).length;
  };
  // One with a chain, and one without: its expirations are those of its open interest.
  const few = await cost(['AAPL', 'MSFT']);
  expect(few).toBeGreaterThan(0);
  expect(await cost(['XOM', 'SPX', 'QQQ', 'NVDA', 'SPY', 'TSLA'])).toBe(few);
});

describe('OptionContract.openInterest', () => {
  const publish = (underlying: string, sessionDate: string, figures: Record<string, number>) =>
    inTransaction(app.store, (tx) =>
      saveOpenInterest(tx, [
        {
          underlying,
          sessionDate,
          rows: Object.entries(figures).map(([id, openInterest]) => ({ ...readOptionContract(id)!, openInterest })),
        },
      ]),
    );
  const of = async (...ids: string[]) => {
    const fields = ids.map((id, i) => `c${i}: contract(id: "${id}") { openInterest }`).join(' ');
    const { data, errors } = await app.graphql(`{ ${fields} }`);
    expect(errors).toBeUndefined();
    return ids.map((_, i) => data[`c${i}`].openInterest);
  };
  const [listed, unknown] = ['O:XOM261120C00590000', 'O:XOM261120C00595000'];

  test('is that of the latest chain, or as published for a later session; where one does not say the other counts', async () => {
    expect(await of(listed, unknown)).toEqual([11, null]);
    await publish('XOM', before, { [listed]: 5, [unknown]: 6 });
    expect(await of(listed, unknown)).toEqual([11, 6]);
    await publish('XOM', '2026-11-23', { [listed]: 7 });
    expect(await of(listed, unknown)).toEqual([11, 6]);
    app.clock.nowMs = newYork('2026-11-23', '09:00');
    try {
      expect(await of(listed, unknown)).toEqual([7, null]);
    } finally {
      app.clock.nowMs = nowMs;
    }
  });

  test('is there for a symbol whose chain was never captured, and errs at its path where it may not be read', async () => {
    const contract = 'O:MSFT261218C00500000';
    await publish('MSFT', today, { [contract]: 12 });
    expect(await of(contract)).toEqual([12]);
    const credential = await app.key({ apiTier: 'free' });
    const query = `{ contract(id: "${contract}") { id openInterest } }`;
    const { data, errors } = await app.graphql(query, {}, { credential });
    expect(data.contract).toEqual({ id: contract, openInterest: null });
    expect(errors).toMatchObject([{ path: ['contract', 'openInterest'], extensions: { code: 'not_entitled_tier' } }]);
  });
});
