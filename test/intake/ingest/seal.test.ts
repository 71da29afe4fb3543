import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Dataset } from '../../../src/core/domain/dataset.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../src/intake/ingest/options/reconcile.ts';
import { sealSession, unsealSession } from '../../../src/intake/ingest/seal.ts';
import { follow } from '../../../src/intake/ingest/tail/follow.ts';
import { listSeals, rejectSealed, saveSeals, tryHoldSeals } from '../../../src/store/market/session-seals.ts';
import type { Store } from '../../../src/store/rows/connection.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { tapegraph } from '../../cli/command-line.ts';
import { filledStores, storeForThisTest, type TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const session = '2026-11-16';
const next = '2026-11-17';
const now = () => exchangeInstant('2026-11-18', 60);
const call = 'O:SPY261218C00600000';
const aapl = 'O:AAPL261218C00250000';

const nanos = (date: string, minute: number) => `${exchangeInstant(date, minute)}000000`;
const bars = 'ticker,volume,open,close,high,low,window_start,transactions';
const bar = (ticker: string, date: string, minute: number, price: number) =>
  `${ticker},100,${price},${price},${price},${price},${nanos(date, minute)},3`;
const optionHeader = 'ticker,conditions,correction,exchange,price,sip_timestamp,size';
const optionTrade = (ticker: string, date: string, size: number) => `${ticker},209,0,302,5,${nanos(date, 600)},${size}`;
const stockHeader = 'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape';
const stockTrades = (date: string, size: number) =>
  Array.from({ length: 6 }, (_, i) => `SPY,,${i < 4 ? 4 : 11},${i + 1},600,${i + 1},${nanos(date, 600 + i)},${size},2`);
const chainOf = (date: string, bid: number) =>
  JSON.stringify({
    // 12:00 in New York.
    timestamp: `${date} 17:00:00`,
    data: {
      symbol: 'SPY',
      current_price: 600,
      prev_day_close: 599,
      options: [
        {
          option: call.slice(2),
          bid,
          ask: bid + 0.2,
          open_interest: 100,
          volume: 10,
          iv: 0.2,
          delta: 0.5,
          gamma: 0.01,
          last_trade_price: bid,
          last_trade_time: null,
          change: 0,
          prev_day_close: bid,
        },
      ],
    },
  });

/** A file of every dataset that is of sessions; `other` says something else of the same instants. */
function contents(date: string, other = false): [Dataset, string][] {
  const x = Number(other);
  const lines = (...all: string[]) => all.join('\n');
  return [
    ['stock-day-bars', lines(bars, bar('SPY', date, 0, 600 + x))],
    ['stock-minute-bars', lines(bars, bar('SPY', date, 590, 600 + x), bar('QQQ', date, 590, 500 + x))],
    ['option-minute-bars', lines(bars, bar('O:QQQ261218C00500000', date, 590, 5 + x))],
    ['open-interest', lines('ticker,open_interest,session_date', `${call},${100 + x},${date}`)],
    ['chain', chainOf(date, 3 + x)],
    [
      'option-quotes',
      lines('ticker,ask_price,bid_price,sequence_number,sip_timestamp', `${call},5,${4 + x},1,${nanos(date, 599)}`),
    ],
    ['stock-trades', lines(stockHeader, ...stockTrades(date, 100 + x))],
    ['option-trades', lines(optionHeader, optionTrade(call, date, 400 + x), optionTrade(aapl, date, 300))],
  ];
}

const folder = temporaryFolder();
let files = 0;
function written(dataset: Dataset, content: string): string {
  const path = join(folder(), `${dataset}-${++files}.${dataset === 'chain' ? 'json' : 'csv'}`);
  writeFileSync(path, content);
  return path;
}

describe('a sealed session', () => {
  let store: TestStore;
  const ingest = async (dataset: Dataset, content: string, into: Store = store) =>
    (await ingestFiles(into, dataset, [written(dataset, content)], { now })).files[0]!;
  const fill = async (date: string, other = false, into: Store = store) => {
    const statuses: Record<string, string | null> = {};
    for (const [dataset, content] of contents(date, other)) {
      const { status, reason } = await ingest(dataset, content, into);
      statuses[dataset] = status === 'stored' ? status : `${status}: ${reason}`;
    }
    return statuses;
  };
  const filled = filledStores(async (one) => void (await fill(session, false, one)));
  const sessionStored = async () => {
    store = await filled();
    onTestFinished(() => store.close());
  };
  const seal = (symbols: string[] | null = null, date = session) =>
    sealSession(store, { session: date, symbols }, { now });
  /** Every row of the store that is of a session. */
  const everything = async (of: (text: string) => boolean = () => true) => {
    const { rows: tables } = await store.pool.query(
      `SELECT DISTINCT table_name AS name FROM information_schema.columns WHERE table_schema = 'public'
       AND column_name IN ('session_date', 'span_start') AND table_name NOT IN ('session_seals', 'followed_lines') ORDER BY 1`,
    );
    expect(tables.length).toBeGreaterThan(15);
    const all: Record<string, string[]> = {};
    for (const { name } of tables) {
      const { rows } = await store.pool.query(`SELECT t::text AS row FROM ${name} t`);
      all[name] = rows
        .map(({ row }) => row as string)
        .filter(of)
        .sort();
    }
    return all;
  };
  const sealedFor = (scope: string) =>
    `refused: ${session} is sealed${scope} and cannot be changed; to unseal it: seal --session ${session} --undo`;

  test('is written by no dataset, and another session by all', async () => {
    await sessionStored();
    expect(await seal()).toMatchObject({
      status: 'sealed',
      stored: { symbols: 3, optionTapes: 3, stockTapes: 1, chains: 1 },
    });
    const before = await everything();
    const refused = await fill(session, true);
    for (const [dataset, status] of Object.entries(refused)) {
      const symbol = dataset === 'stock-minute-bars' ? 'QQQ' : 'SPY';
      const isStockBars = dataset.startsWith('stock-') && dataset.endsWith('bars');
      expect(`${dataset} ${status}`).toBe(`${dataset} ${sealedFor(isStockBars ? ` for ${symbol}` : '')}`);
    }
    expect(await everything()).toEqual(before);
    const others = await fill(next);
    expect(new Set(Object.values(others))).toEqual(new Set(['stored']));
    // The session before the sealed one would change the concentration of those after it.
    expect((await ingest('stock-trades', [stockHeader, ...stockTrades('2026-11-13', 700)].join('\n'))).status).toBe(
      'stored',
    );
    const ofSession = (row: string) => row.includes(`,${session},`);
    const after = await everything(ofSession);
    for (const [table, rows] of Object.entries(before)) expect(after[table], table).toEqual(rows.filter(ofSession));
  });

  test('is not reconciled again until the seal is undone, even where it says nothing new', async () => {
    await sessionStored();
    await seal();
    const trades = [written('option-trades', [optionHeader, optionTrade(call, session, 900)].join('\n'))];
    const run = () => reconcile(store, { trades, quotes: [], dayAggregates: [] }, { session, maxErrors: 0, now });
    expect(await run()).toMatchObject({ status: 'refused', reason: sealedFor('').replace('refused: ', '') });
    expect(await unsealSession(store, { session, symbols: null }, { now })).toMatchObject({ status: 'undone' });
    expect(await run()).toMatchObject({ status: 'reconciled', prints: 1 });
  });

  test('of some symbols leaves the others free, and refuses a file that names one of them', async () => {
    await sessionStored();
    expect(await seal(['SPY'])).toMatchObject({ status: 'sealed', stored: { symbols: 1, optionTapes: 1 } });
    expect(await ingest('option-trades', [optionHeader, optionTrade(aapl, session, 301)].join('\n'))).toMatchObject({
      status: 'stored',
    });
    const both = [optionHeader, optionTrade(aapl, session, 302), optionTrade(call, session, 400)].join('\n');
    const before = await everything();
    expect(await ingest('option-trades', both)).toMatchObject({
      status: 'refused',
      reason: sealedFor(' for SPY').replace('refused: ', ''),
    });
    expect(await everything()).toEqual(before);
    expect(await unsealSession(store, { session, symbols: ['AAPL'] }, { now })).toMatchObject({
      status: 'refused',
      reason: `${session} is not sealed for AAPL alone`,
    });
  });

  test('is passed over by a live tape, which goes on with the others', async () => {
    await sessionStored();
    await seal(['SPY']);
    const before = await everything((row) => row.includes('SPY'));
    const line = (value: object) => `${JSON.stringify(value)}\n`;
    const print = (contract: string) =>
      line({
        type: 'option_print',
        contract,
        exchange: 302,
        price: 9,
        size: 900,
        sip_timestamp: nanos(session, 700),
        sequence_number: 5,
      });
    const stock = (symbol: string) =>
      line({
        type: 'stock_print',
        symbol,
        exchange: 11,
        id: '9',
        price: 601,
        size: 70,
        sip_timestamp: nanos(session, 700),
        sequence_number: 9,
      });
    const chain = (underlying: string, contract: string) =>
      line({
        type: 'chain',
        underlying,
        captured_at_ms: exchangeInstant(session, 710),
        spot: 600,
        rows: [{ contract, open_interest: 5, bid: 3, ask: 3.1, iv: 0.2, delta: 0.5, gamma: 0.01 }],
      });
    const tape = [
      print(call),
      print('O:MSFT261218C00400000'),
      stock('SPY'),
      stock('MSFT'),
      chain('SPY', call),
      chain('MSFT', 'O:MSFT261218C00400000'),
      line({ type: 'time', sip_timestamp: nanos(session, 720) }),
    ];
    const report = await follow(store, Readable.from([Buffer.from(tape.join(''))]), {
      source: 'stdin',
      fromStart: false,
      everyMs: 20,
      now,
      stop: new AbortController().signal,
      gammaSource: 'vendor',
      rate: 0.045,
      onBadLine: ({ reason }) => expect.fail(reason),
    });
    expect(report).toMatchObject({ throughLine: tape.length });
    expect(await everything((row) => row.includes('SPY'))).toEqual(before);
    const live = await everything((row) => row.includes('MSFT'));
    for (const table of [
      'flow_events',
      'flow_coverage',
      'option_bar_blocks',
      'bar_blocks',
      'live_quotes',
      'chain_captures',
    ])
      expect(live[table]!.length, table).toBeGreaterThan(0);
  });

  test('is refused while it is not over, unknown, or live; the reason names what is missing', async () => {
    const reasonOf = async (symbols: string[] | null, date = session) => (await seal(symbols, date)).reason;
    store = await storeForThisTest();
    expect(await reasonOf(null)).toBe(`nothing of ${session} is stored`);
    await sessionStored();
    expect(await reasonOf(null, '2026-11-18')).toBe('2026-11-18 is not over');
    expect(await reasonOf(['SPY', 'MSFT'])).toBe(`nothing of ${session} is stored for MSFT`);
    await store.pool.query(`UPDATE flow_coverage SET status = 'observed_live' WHERE underlying = 'AAPL'`);
    expect(await reasonOf(null)).toBe('the option tape of AAPL is not reconciled');
    expect(await reasonOf(['SPY'])).toBeNull();
    expect(await seal(['SPY'])).toMatchObject({ status: 'unchanged' });
    expect(await listSeals(store)).toEqual([{ session, symbol: 'SPY', sealedAtMs: now() }]);
  });

  test('a file of years of daily bars passes as long as it says of it what is stored', async () => {
    const days = (price: number) => [bars, bar('SPY', '2026-11-13', 0, price), bar('SPY', session, 0, 600)].join('\n');
    store = await storeForThisTest();
    expect((await ingest('stock-day-bars', days(590))).status).toBe('stored');
    await ingest('stock-minute-bars', [bars, bar('SPY', session, 590, 600)].join('\n'));
    await seal();
    expect((await ingest('stock-day-bars', days(591))).status).toBe('stored');
    expect((await ingest('stock-day-bars', days(592).replaceAll(',600', ',601'))).status).toBe('refused');
  });

  test('sealing waits for who is writing, and finds what was written', async () => {
    await sessionStored();
    let sealing: ReturnType<typeof seal> | undefined;
    await inTransaction(store, async (tx) => {
      await rejectSealed(tx, [{ symbol: 'AAPL', sessionDate: session }]);
      sealing = seal();
      await pause(250);
      // Others that write in the meantime do not wait behind it.
      await inTransaction(store, (other) => rejectSealed(other, [{ symbol: 'SPY', sessionDate: next }]));
      expect(await listSeals(store)).toEqual([]);
      await tx.query(`UPDATE flow_coverage SET status = 'observed_live' WHERE underlying = 'AAPL'`);
    });
    expect(await sealing).toMatchObject({ status: 'refused', reason: 'the option tape of AAPL is not reconciled' });
  });

  test('who writes waits for a seal that is being made, and is refused by it', async () => {
    await sessionStored();
    let writing: ReturnType<typeof fill> | undefined;
    await inTransaction(store, async (tx) => {
      expect(await tryHoldSeals(tx)).toBe(true);
      writing = fill(session, true);
      await pause(250);
      await saveSeals(tx, session, ['*'], now());
    });
    for (const status of Object.values(await writing!)) expect(status).toMatch(/^refused: 2026-11-16 is sealed/);
  });

  test('waiting to seal ends when the command is told to stop', async () => {
    await sessionStored();
    const stop = new AbortController();
    const asked = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const writer = inTransaction(store, async (tx) => {
      await rejectSealed(tx, [{ symbol: 'SPY', sessionDate: session }]);
      asked.resolve();
      await finish.promise;
    });
    await asked.promise;
    const sealing = sealSession(store, { session, symbols: null }, { now, signal: stop.signal });
    await pause(50);
    stop.abort(new Error('interrupted'));
    await expect(sealing).rejects.toThrow();
    finish.resolve();
    await writer;
    expect(await listSeals(store)).toEqual([]);
  });
});

describe('tapegraph seal', () => {
  test('seals, lists and frees a session, and says what was wrong', async () => {
    const store = await storeForThisTest();
    const env = { DATABASE_URL: store.databaseUrl };
    // Sessions before the test's own clock.
    const past = '2024-03-15';
    for (const [dataset, content] of contents(past)) {
      const { code, stdout } = await tapegraph(['ingest', dataset, written(dataset, content)], env);
      expect(code, stdout).toBe(0);
    }
    expect((await tapegraph(['seal', '--list'], env)).stdout).toBe('Nothing is sealed.\n');
    const sealed = await tapegraph(['seal', '--session', past, '--symbols', 'spy, AAPL'], env);
    expect(sealed).toMatchObject({ code: 0, stderr: '' });
    expect(sealed.stdout).toBe(
      `sealed     ${past} for SPY, AAPL  2 symbols; 2 option tapes, 1 stock tapes, chains of 1\n`,
    );
    expect((await tapegraph(['seal', '--list'], env)).stdout).toMatch(
      /^SESSION +SYMBOL +ORIGIN +SEALED\n2024-03-15 {2}AAPL +file /,
    );
    const { code, stdout } = await tapegraph(['seal', '--session', past, '--json'], env);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      {
        session: past,
        symbols: null,
        status: 'sealed',
        reason: null,
        stored: { symbols: 3, option_tapes: 3, stock_tapes: 1, chains: 1 },
      },
    ]);
    const free = ['seal', '--session', past, '--undo'];
    expect(await tapegraph([...free, '--symbols', 'QQQ'], env)).toMatchObject({
      code: 1,
      stdout: `refused    ${past} for QQQ  ${past} is not sealed for QQQ alone\n`,
    });
    expect((await tapegraph(free, env)).stdout).toBe(`undone     ${past}\n`);
    expect((await tapegraph(free, env)).code).toBe(1);
    for (const wrong of [
      [],
      ['--session', 'monday'],
      ['--list', '--undo'],
      ['--session', past, '--symbols', 'SPY,SPY'],
    ])
      expect((await tapegraph(['seal', ...wrong], env)).code).toBe(2);
  });
});
