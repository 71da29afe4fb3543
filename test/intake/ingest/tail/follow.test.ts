import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { addDays, exchangeInstant } from '../../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../../src/intake/ingest/options/reconcile.ts';
import { type FollowOptions, follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { lockCaptures } from '../../../../src/store/chain/session-captures.ts';
import { markLive } from '../../../../src/store/market/session-origins.ts';
import { inTransaction } from '../../../../src/store/rows/transaction.ts';
import { start } from '../../../cli/command-line.ts';
import { type Json, type TestApp, testApp } from '../../../support/app.ts';
import { storeForThisTest } from '../../../support/store.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import {
  contracts,
  index,
  lines,
  marketForThisTest,
  marketStore,
  open,
  option,
  options,
  piecesOf,
  session,
  stamp,
  stock,
  stored,
  time,
  unnumbered,
} from './followed-tape.ts';

describe('a live tape that is followed', () => {
  let undisturbed: Json;
  beforeAll(async () => {
    const store = await marketStore();
    const report = await follow(store, Readable.from(piecesOf(lines)), options());
    expect(report).toMatchObject({ throughLine: lines.length, lines: lines.length });
    expect(report.badLines).toBeGreaterThan(50);
    undisturbed = await stored(store);
    await store.close();
    expect(undisturbed.flow_events.length).toBeGreaterThan(50);
    expect(undisturbed.option_bar_blocks).toHaveLength(3);
    // Five minutes of the tape, of both underlyings.
    expect(undisturbed.greeks_places).toHaveLength(3);
    expect(undisturbed.greeks_minutes.length).toBeGreaterThan(6);
  });

  test('gives the same however it comes in pieces, and when it comes twice', async () => {
    const store = await marketForThisTest();
    await follow(store, Readable.from(piecesOf(lines, 333)), options({ everyMs: 1 }));
    expect(await stored(store)).toEqual(undisturbed);
    await follow(store, Readable.from(piecesOf(lines)), options());
    expect(await stored(store)).toEqual(undisturbed);
  });

  test('whose bars wait for later commits loses none of them when it ends before they are written', async () => {
    const store = await marketForThisTest();
    const now = () => open + 7_200_000 + performance.now();
    const following = (pieces: Buffer[], change: Partial<FollowOptions> = {}) =>
      follow(store, Readable.from(pieces), options({ barsACommit: 1, everyMs: 0, fromStart: true, now, ...change }));
    // All of the tape is in one commit, and the bars of two contracts are not.
    const onCommit = () => Promise.reject(new Error('killed'));
    await expect(following(piecesOf(lines, 1e9), { onCommit })).rejects.toThrow('killed');
    const { rows } = await store.pool.query(`SELECT value FROM store_facts WHERE key = 'followed stdin'`);
    expect(JSON.parse(rows[0].value)).toMatchObject({ lines: lines.length, barsFromMs: expect.any(Number) });
    expect((await stored(store)).option_bar_blocks.length).toBeLessThan(undisturbed.option_bar_blocks.length);
    await following(piecesOf(lines));
    expect(await stored(store)).toEqual(undisturbed);
  });

  test('gives the same when each commit writes the bars of one contract', async () => {
    const store = await marketForThisTest();
    await follow(store, Readable.from(piecesOf(lines, 20_000)), options({ barsACommit: 1, everyMs: 1 }));
    expect(await stored(store)).toEqual(undisturbed);
  });

  test('goes on where it was: a tape that goes on, and one that begins anew', async () => {
    const store = await marketForThisTest();
    await follow(store, Readable.from(piecesOf(lines.slice(0, 700))), options());
    await follow(store, Readable.from(piecesOf(lines.slice(700, 1100))), options());
    // One that brings nothing, twice.
    for (const lines of [[], []]) await follow(store, Readable.from(piecesOf(lines)), options());
    const report = await follow(store, Readable.from(piecesOf(lines)), options({ fromStart: true }));
    expect(report).toMatchObject({ throughLine: lines.length, lines: lines.length - 1100 });
    // Prints from before a pause of the tape arrived late: the same events, some of them reported twice.
    expect(unnumbered(await stored(store))).toEqual(unnumbered(undisturbed));
  });

  test('told to stop, writes what it took and ends, although its stdin is open', async () => {
    const store = await marketForThisTest();
    const { child, ended } = start(['follow', '--json'], { DATABASE_URL: store.databaseUrl });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin!.write(lines.slice(0, 300).join(''));
    for (let tries = 0; tries < 500 && (await stored(store)).flow_coverage.length === 0; tries++) await pause(20);
    child.stdin!.write(time(3_600_000));
    await pause(100);
    child.kill('SIGTERM');
    const { stdout } = await ended;
    expect(JSON.parse(stdout)).toMatchObject({ lines: 301, through_line: 301 });
  }, 60_000);

  test('does not deadlock with another writer of its chains, which marks them as its own after it has locked them', async () => {
    const store = await marketForThisTest();
    const rows = [{ contract: contracts[0], bid: 3.9, ask: 3.92, iv: 0.118, gamma: 0.0213 }];
    const chain = { type: 'chain', underlying: 'SPY', captured_at_ms: open + 2000, spot: 600, rows };
    const tape = [option(1000, 1, 2, 500), stock(1000, 1, 600), `${JSON.stringify(chain)}\n`];
    let followed: Promise<unknown>;
    await inTransaction(store, async (tx) => {
      await lockCaptures(tx, 'SPY');
      followed = follow(store, Readable.from(piecesOf(tape)), options());
      followed.catch(() => {});
      const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await vi.waitUntil(async () => (await store.pool.query(waiting)).rowCount === 1, { timeout: 20_000 });
      await markLive(tx, [{ symbol: 'SPY', sessionDate: session }]);
    });
    expect(await followed!).toMatchObject({ lines: 3, badLines: 0 });
  });

  test('is followed by one process at a time', async () => {
    const store = await marketForThisTest();
    const other = Promise.withResolvers<void>();
    const committed = Promise.withResolvers<void>();
    async function* slow() {
      yield* piecesOf(lines.slice(0, 100));
      await other.promise;
      yield* piecesOf(lines.slice(100, 200));
    }
    const onCommit = async () => committed.resolve();
    const first = follow(store, slow(), options({ everyMs: 1, onCommit }));
    first.catch(() => {});
    await committed.promise;
    await follow(store, Readable.from(piecesOf(lines.slice(100, 300))), options());
    other.resolve();
    await expect(first).rejects.toThrow('another process follows stdin');
  });
});

describe('readers of a live tape', () => {
  const folder = temporaryFolder();
  let app: TestApp;
  beforeAll(async () => {
    app = await testApp({ nowMs: open + 3_600_000 });
  });
  afterAll(() => app.close());

  test('see a print while the tape goes on', async () => {
    const stop = new AbortController();
    const tape = new Readable({ read() {} });
    const following = follow(app.store, tape, options({ everyMs: 200, stop: stop.signal, now: Date.now }));
    const call = contracts[0]!;
    tape.push(option(1000, 3, 5, 400) + stock(1500, 1, 600) + time(3000));
    const event = await vi.waitFor(async () => {
      const { body } = await app.get('/v2/flow/large-trades?symbol=SPY');
      expect(body.data.events).toHaveLength(1);
      return body.data.events[0];
    }, 20_000);
    expect(event).toMatchObject({
      coverage: { status: 'observed_live', complete: false },
      update: { event: { premium_usd: 200_000, legs: [{ size: 400 }] } },
    });
    const section = (await app.get('/v2/flow/SPY/cross-section')).body.data.snapshot;
    expect(section.update.by_strike).toMatchObject([{ measures: { call_volume: 400 } }]);
    expect(
      (await app.get(`/v2/options/${encodeURIComponent(call)}/bars?timeframe=1m&date=${session}`)).body.data.bars,
    ).toMatchObject([{ volume: 400 }]);
    expect((await app.get('/v2/symbols/SPY/spot')).body.data).toMatchObject({ price: 600 });
    stop.abort();
    await following;
  });

  test('see an index move with its values, as a stock does with its prints', async () => {
    const tape = Readable.from([
      Buffer.from(index(1000, 5000) + index(1400, 5010.5) + index(61_200, 4990) + time(62_000)),
    ]);
    await follow(app.store, tape, options());
    const { body } = await app.get('/v2/quotes?symbols=SPX');
    expect(body.data).toMatchObject([{ symbol: 'SPX', spot: 4990, event_ts_ms: open + 61_200, session_date: session }]);
    expect((await app.get('/v2/symbols/SPX/spot')).body.data).toMatchObject({ price: 4990 });
    const bars = async (timeframe: string) =>
      (await app.get(`/v2/stocks/SPX/bars?timeframe=${timeframe}&from=${session}&to=${addDays(session, 1)}`)).body.data;
    const minute = { open: 5000, high: 5010.5, low: 5000, close: 5010.5, volume: 0, vwap: null, trade_count: null };
    expect(await bars('1m')).toMatchObject([minute, { open: 4990, close: 4990 }]);
    expect(await bars('1d')).toMatchObject([{ open: 5000, high: 5010.5, low: 4990, close: 4990 }]);
  });

  test('see what was reconciled, whatever is followed after it', async () => {
    const path = join(folder(), 'tape.csv');
    writeFileSync(
      path,
      `ticker,conditions,exchange,price,sip_timestamp,size\n${contracts[0]},209,302,5,${stamp(1000)},800`,
    );
    const over = () => exchangeInstant(session, 1200);
    app.clock.nowMs = over();
    await reconcile(app.store, { trades: [path], quotes: [], dayAggregates: [] }, { session, maxErrors: 0, now: over });
    const late = option(5000, 9, 5, 900) + option(5000, 11, 5, 900) + time(9000);
    await follow(app.store, Readable.from([Buffer.from(late)]), options({ source: 'other' }));
    await vi.waitFor(async () => {
      const { events } = (await app.get('/v2/flow/large-trades?symbol=AAPL')).body.data;
      expect(events).toHaveLength(1);
    }, 20_000);
    const { events } = (await app.get('/v2/flow/large-trades?symbol=SPY')).body.data;
    expect(events.map((each: Json) => [each.coverage.status, each.update.event.total_size])).toEqual([
      ['eod_reconciled', 800],
    ]);
  });

  test('see the stock bars of the whole tape, whatever is followed after it; of one read in the session what follows goes on', async () => {
    const store = await storeForThisTest();
    const bars = async () =>
      (await store.pool.query(`SELECT timeframe, span_start, version FROM bar_blocks ORDER BY 1, 2`)).rows;
    const path = join(folder(), 'stocks.csv');
    const columns = 'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size';
    const print = (ms: number, id: number, exchange: number) => `SPY,,${exchange},${id},600,${id},${stamp(ms)},100`;
    writeFileSync(path, [columns, print(0, 1, 4), print(60_000, 2, 11), print(23_400_000, 3, 11)].join('\n'));
    const late = (ms: number, id: number) => Readable.from([Buffer.from(stock(ms, id, 650) + time(ms + 60_000))]);
    const inSession = () => open + 7_200_000;
    await ingestFiles(store, 'stock-trades', [path], { now: inSession });
    const early = await bars();
    await follow(store, late(3_600_000, 7), options());
    expect(await bars()).not.toEqual(early);
    const over = () => exchangeInstant(session, 1200);
    writeFileSync(path, [columns, print(0, 1, 4), print(60_000, 2, 11), print(23_400_000, 3, 4)].join('\n'));
    await ingestFiles(store, 'stock-trades', [path], { now: over });
    const whole = await bars();
    await follow(store, late(3_700_000, 9), options({ source: 'other' }));
    expect(await bars()).toEqual(whole);
  });

  test('lose what is live when a session begins, once nobody will reconcile it any more', async () => {
    const store = await storeForThisTest();
    const at = (date: string) => ({ sip_timestamp: `${exchangeInstant(date, 600)}000000` });
    const take = (date: string, text: string) =>
      follow(store, Readable.from([Buffer.from(text)]), options({ now: () => exchangeInstant(date, 700) }));
    const left = async () =>
      (await store.pool.query('SELECT underlying, session_date FROM flow_coverage ORDER BY 2, 1')).rows.map(
        (row) => `${row.session_date} ${row.underlying}`,
      );
    await take('2026-11-09', option(0, 3, 5, 400, at('2026-11-09')) + option(0, 5, 5, 400, at('2026-11-09')));
    await take('2026-11-10', option(0, 3, 5, 400, at('2026-11-10')));
    // Nobody reconciled the ninth: it stays. Of the ninth reconciled, what the full tape did not name goes, a day
    // later.
    expect(await left()).toEqual(['2026-11-09 AAPL', '2026-11-09 SPY', '2026-11-10 SPY']);
    await store.pool.query(
      `UPDATE flow_coverage SET status = 'eod_reconciled' WHERE underlying = 'SPY' AND session_date = '2026-11-09'`,
    );
    // Time alone begins no session: its first print does.
    await take('2026-11-11', time(0).replace(stamp(0), at('2026-11-11').sip_timestamp));
    expect(await left()).toContain('2026-11-09 AAPL');
    await take('2026-11-11', stock(0, 1, 600, at('2026-11-11')));
    expect(await left()).toEqual(['2026-11-09 SPY', '2026-11-10 SPY']);
    // A week later nobody will.
    await take('2026-11-18', option(0, 3, 5, 400, at('2026-11-18')));
    expect(await left()).toEqual(['2026-11-09 SPY', '2026-11-18 SPY']);
    const events = await store.pool.query('SELECT session_date FROM flow_events ORDER BY 1');
    expect(events.rows.map((row) => row.session_date)).toEqual(['2026-11-09', '2026-11-18']);
    expect((await store.pool.query('SELECT DISTINCT session_date FROM followed_lines')).rows).toEqual([
      { session_date: '2026-11-18' },
    ]);
  });

  test('keep what a file brought of a session in progress', async () => {
    const store = await storeForThisTest();
    const path = join(folder(), 'in-progress.csv');
    const print = `${contracts[0]},209,0,302,5,${stamp(0)},400`;
    writeFileSync(path, `ticker,conditions,correction,exchange,price,sip_timestamp,size\n${print}`);
    await ingestFiles(store, 'option-trades', [path], { now: () => open + 60_000 });
    const later = '2026-11-30';
    const at = { sip_timestamp: `${exchangeInstant(later, 600)}000000` };
    const pieces = Readable.from([Buffer.from(stock(0, 1, 600, at))]);
    await follow(store, pieces, options({ now: () => exchangeInstant(later, 700) }));
    const { rows } = await store.pool.query('SELECT underlying FROM flow_events');
    expect(rows).toEqual([{ underlying: 'SPY' }]);
  });
});
