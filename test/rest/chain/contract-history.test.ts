import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { previousTradingDay } from '../../../src/core/domain/calendar.ts';
import { contractId } from '../../../src/core/domain/chain/option-contract.ts';
import { toBarColumns } from '../../../src/core/domain/market/bar.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { follow } from '../../../src/intake/ingest/tail/follow.ts';
import { saveOptionBars } from '../../../src/store/chain/option-bars.ts';
import { contractMinutesOf } from '../../../src/store/flow/contract-minutes.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { flatBar } from '../../support/market.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const days = ['2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'];
const id = 'O:SPY261218C00600000';
const rows = (root: string, step: number) =>
  (['call', 'put'] as const).map((right) =>
    chainRow({
      root,
      expiry: '2026-12-18',
      right,
      strike: 600_000,
      openInterest: 100 + step,
      volume: step,
      bid: step,
      ask: step + 1,
      last: step + 0.5,
      iv: 0.2,
      delta: 0.5,
      gamma: 0.01,
      theta: -0.1,
      vega: 0.3,
    }),
  );
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const at = (day: number, clock: string) => newYork(days[day]!, clock);
  const clocks = ['10:00', '16:00', '16:15'];
  await saveCaptures(app.store, {
    chains: ['SPY', 'AAPL', 'MSFT', 'XOM'].flatMap((symbol) => [
      ...[0, 1, 3].flatMap((day) =>
        clocks.map((clock, i) => chainCapture(symbol, at(day, clock), rows(symbol, 10 * day + i))),
      ),
      chainCapture(symbol, at(4, '11:55'), rows(symbol, 40)),
      chainCapture(symbol, at(4, '12:05'), rows(symbol, 41)),
    ]),
  });
  const bar = (day: number, clock: string, price: number, volume: number) => flatBar(at(day, clock), price, volume);
  const bars = {
    1: [bar(1, '09:30', 7, 2), bar(1, '15:59', 8, 3)],
    2: [bar(2, '10:00', 9, 4)],
    4: [bar(4, '11:00', 5, 6), bar(4, '12:01', 6, 7)],
  };
  await inTransaction(app.store, (tx) =>
    saveOptionBars(
      tx,
      'eod_reconciled',
      Object.entries(bars).map(([day, some]) => ({
        underlying: 'SPY',
        sessionDate: days[Number(day)]!,
        contract: id,
        bars: toBarColumns(some),
      })),
    ),
  );
});
afterAll(() => app.close());

const history = (query = '', contract = id, sending = {}) =>
  app.get(`/v2/options/${contract}/history?${query}`, sending);

/** A session by the capture numbered `step`. */
const ofChain = (day: number, clock: string, step: number) => ({
  date: days[day],
  captured_at: newYork(days[day]!, clock),
  spot: 600.5,
  oi: 100 + step,
  bid: step,
  ask: step + 1,
  iv: 0.2,
  delta: 0.5,
  gamma: 0.01,
  theta: -0.1,
  vega: 0.3,
});
const unlisted = {
  captured_at: null,
  spot: null,
  oi: null,
  bid: null,
  ask: null,
  iv: null,
  delta: null,
  gamma: null,
  theta: null,
  vega: null,
};

describe('GET /v2/options/{contract}/history', () => {
  test('each session has its last chain at or before the close, and volume and close of its bars, as of now', async () => {
    const { status, body } = await history('from=2026-11-14');
    expect(status).toBe(200);
    expect(body.data.contract).toEqual({ underlying: 'SPY', expiry: '2026-12-18', right: 'call', strike: 600_000 });
    expect(body.data.days).toStrictEqual([
      { ...ofChain(0, '16:00', 1), volume: 1, close: 1.5 },
      { ...ofChain(1, '16:00', 11), volume: 5, close: 8 },
      { date: days[2], ...unlisted, volume: 4, close: 9 },
      { ...ofChain(3, '16:00', 31), volume: 31, close: 31.5 },
      { ...ofChain(4, '11:55', 40), volume: 6, close: 5 },
    ]);
    expect(body.meta).toStrictEqual({
      caps: { applied: [], tier: 'pro' },
      plane: 'live',
      read_at_ms: expect.any(Number),
      from: '2026-11-14',
      to: days[4],
      count: 5,
    });
  });

  test('a past window is sealed; one that is too long keeps its latest sessions and says so', async () => {
    const path = `from=${days[1]}&to=${days[2]}`;
    const { body, headers } = await history(path);
    expect(body.data.days.map(({ date }: Json) => date)).toEqual([days[1], days[2]]);
    expect(body.meta.plane).toBe('archive');
    expect((await history(path, id, { headers: { 'if-none-match': headers.etag! } })).status).toBe(304);
    let firstOf260 = days[4]!;
    for (let i = 1; i < 260; i++) firstOf260 = previousTradingDay(firstOf260);
    const long = await history('from=1990-01-01');
    expect(long.body.meta).toMatchObject({ caps: { applied: ['range_clamped'] }, count: 5, from: firstOf260 });
    expect((await history()).body.meta).toMatchObject({ from: '2026-10-26', caps: { applied: [] } });
  });

  test('a window without data says so, one that ends before it begins is refused, and so is a stranger', async () => {
    const empty = await history('from=2026-01-05&to=2026-01-06');
    expect(empty.body.data.days).toEqual([]);
    expect(empty.body.meta.note).toContain(id);
    const turned = await history('from=2026-11-18&to=2026-11-17');
    expect([turned.status, turned.body.error.code]).toEqual([400, 'invalid_params']);
    const credential = await app.session({ siteTier: 'free', classification: null });
    const { status } = await history('', 'O:SPXW261218C06000000', { credential });
    expect(status).toBe(403);
  });
});

const ask = async (contracts: readonly string[], from: string) => {
  const found: Json[] = [];
  const sent = await statementsOf(async () => {
    const { data, errors } = await app.graphql(
      `{ ${contracts.map((each, i) => `c${i}: contract(id: "${each}") { history(from: "${from}") { days { openInterest theta } } }`).join(' ')} }`,
    );
    expect(errors).toBeUndefined();
    found.push(...Object.values<Json>(data).map(({ history: of }) => of.days));
  });
  return { statements: sent.length, found };
};

test('one session and a month of several contracts take the same number of statements', async () => {
  const [call, put] = rows('MSFT', 0).map(contractId) as [string, string];
  const [other] = rows('AAPL', 0).map(contractId) as [string];
  const one = await ask([call], days[4]!);
  const month = await ask([put, other], '2026-10-20');
  expect(one.statements).toBeGreaterThan(0);
  expect(month.statements).toBeLessThanOrEqual(one.statements + 1);
  expect(month.found.map((each) => each.length)).toEqual([4, 4]);
});

test('captures that were cut before open interest was part of a cut are read whole', async () => {
  const cut = ['volume', 'bid', 'ask', 'last', 'iv', 'delta', 'gamma', 'vega', 'filled'];
  const { rows: stored } = await app.store.pool.query('SELECT ctid::text AS id, layout FROM chain_captures');
  for (const { id: ctid, layout } of stored) {
    const older = JSON.parse(layout).filter(({ header }: Json) => cut.includes(header.name));
    expect(older.length).toBeLessThan(JSON.parse(layout).length);
    await app.store.pool.query('UPDATE chain_captures SET layout = $1 WHERE ctid = $2::tid', [
      JSON.stringify(older),
      ctid,
    ]);
  }
  const { found } = await ask(rows('XOM', 0).map(contractId), days[0]!);
  const expected = [101, 111, 131, 140].map((openInterest) => ({ openInterest, theta: -0.1 }));
  expect(found).toEqual([expected, expected]);
});

describe('the volume of a contract by session', () => {
  const session = days[3]!;
  const late = 'O:SPY261218P00600000';
  /** Late prints form no bar; 246 has no price, and is alone in its minute. */
  const prints = [
    { clock: '10:00', contract: id, condition: 209, size: 5 },
    { clock: '10:00', contract: id, condition: 202, size: 7 },
    { clock: '10:05', contract: id, condition: 232, size: 11 },
    { clock: '10:20', contract: id, condition: 246, size: 13 },
    { clock: '11:00', contract: late, condition: 204, size: 17 },
  ].map(({ clock, ...print }, i) => ({ ...print, sequence: i + 1, stamp: `${newYork(session, clock) + i}000000` }));
  const folder = temporaryFolder();

  async function fromFile(on: TestApp) {
    const path = join(folder(), 'tape.csv');
    const lines = prints.map(
      ({ contract, condition, size, stamp }) => `${contract},${condition},0,302,2,${stamp},${size}`,
    );
    writeFileSync(path, ['ticker,conditions,correction,exchange,price,sip_timestamp,size', ...lines].join('\n'));
    await ingestFiles(on.store, 'option-trades', [path], { now: () => nowMs });
  }
  async function followed(on: TestApp) {
    const lines = prints.map(({ contract, condition, size, stamp, sequence }) => {
      const print = { type: 'option_print', contract, exchange: 302, conditions: [condition], price: 2, size };
      return `${JSON.stringify({ ...print, sip_timestamp: stamp, sequence_number: sequence })}\n`;
    });
    await follow(on.store, Readable.from(lines.map((line) => Buffer.from(line))), {
      source: 'stdin',
      fromStart: true,
      everyMs: 0,
      now: () => nowMs,
      stop: new AbortController().signal,
      gammaSource: 'solve',
      rate: 0.045,
      onBadLine: () => {},
    });
  }

  test.each([
    ['a file', fromFile],
    ['a live tape', followed],
  ])('counts every print of %s, late and multi-leg ones too, as the cross-section does', async (_, store) => {
    const on = await testApp({ nowMs });
    onTestFinished(() => on.close());
    await store(on);
    const volume = async (contract: string) =>
      (await on.get(`/v2/options/${contract}/history?from=${session}&to=${session}`)).body.data.days;
    expect(await volume(id)).toMatchObject([{ volume: 36, close: 2 }]);
    expect(await volume(late)).toMatchObject([{ volume: 17, close: null }]);
    const { rows } = await on.store.pool.query('SELECT contracts, payload FROM contract_minute_blocks');
    const minutes = rows.flatMap((row) => [...contractMinutesOf(row).volume]);
    expect(minutes.reduce((sum, each) => sum + each, 0)).toBe(36 + 17);
  });
});

test('a session’s last chain is the one with the last quotes up to the close, whatever the time of its page', async () => {
  const delayMs = 15 * 60_000;
  const page = (clock: string, step: number) =>
    chainCapture('XOM', newYork(days[2]!, clock), rows('XOM', step), { delayMs });
  // Quotes of 15:44, of the close, and of a minute after it.
  await saveCaptures(app.store, { chains: [page('15:59', 50), page('16:15', 51), page('16:16', 52)] });
  const { body } = await history(`from=${days[2]}&to=${days[2]}`, 'O:XOM261218C00600000');
  expect(body.data.days).toMatchObject([{ date: days[2], captured_at: newYork(days[2]!, '16:15'), oi: 151 }]);
});
