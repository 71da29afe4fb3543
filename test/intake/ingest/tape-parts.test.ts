// A tape file replaces only what it can speak for: what is stored of other sessions stays, and the report counts it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { leftLine } from '../../../src/intake/ingest/files/tape-report.ts';
import { type IngestOptions, ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../src/intake/ingest/options/reconcile.ts';
import { reconcileStocks } from '../../../src/intake/ingest/reconcile-stocks.ts';
import { sealSession } from '../../../src/intake/ingest/seal.ts';
import { follow } from '../../../src/intake/ingest/tail/follow.ts';
import { markLive } from '../../../src/store/market/session-origins.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { hasSharedData, sharedData } from '../../support/shared-data.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { options as followOptions, option, piecesOf, stock } from './tail/followed-tape.ts';

const [monday, tuesday] = ['2026-11-16', '2026-11-17'];
const now = () => exchangeInstant('2026-11-18', 720);
const call = 'O:SPY261218C00600000';

/** Minutes of a New York day by name. */
const at = { open: 570, noon: 720, close: 959, late: 980, evening: 1230 };

const formats = {
  'option-trades': {
    header: 'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    line: (ms: number, id: number, symbol = 'SPY') => `${call.replace('SPY', symbol)},209,0,302,5,${ms}000000,${id}`,
  },
  'stock-trades': {
    header: 'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
    line: (ms: number, id: number, symbol = 'SPY') => `${symbol},,4,${id},600,${id},${ms}000000,100,2,202`,
  },
};
type Dataset = keyof typeof formats;

interface Print {
  date: string;
  minute: number;
  /** Told apart by it. */
  id: number;
  /** SPY unless given. */
  symbol?: string;
}

const print = (date: string, minute: number, id: number): Print => ({ date, minute, id });
/** A session's own tape: a print every half an hour from the open to the close. */
const day = (date: string, from = 1): Print[] =>
  [...Array.from({ length: 13 }, (_, i) => at.open + 30 * i), at.close].map((minute, i) =>
    print(date, minute, from + i),
  );
const evening = [1, 2, 3].map((n) => print(monday, at.evening + n, 900 + n));
const late = [print(monday, at.late, 800)];

const folder = temporaryFolder();
let files = 0;
function file(dataset: Dataset, prints: readonly Print[], name = `${++files}-${dataset}.csv`): string {
  const { header, line } = formats[dataset];
  const path = join(folder(), name);
  const lines = prints.map(({ date, minute, id, symbol }) => line(exchangeInstant(date, minute), id, symbol));
  writeFileSync(path, [header, ...lines].join('\n'));
  return path;
}

/** Follows prints of stocks beside a tape of options, and the other way round. */
async function liveOfOtherKind(store: TestStore, dataset: Dataset): Promise<void> {
  const lines = dataset === 'stock-trades' ? [option(0, 3, 5, 100)] : [stock(0, 7, 600)];
  await follow(store, Readable.from(piecesOf(lines)), followOptions({ everyMs: 0 }));
}

/** Marks a session as a capture from a source does. */
const capturedChain = (store: TestStore) =>
  inTransaction(store, (tx) => markLive(tx, [{ symbol: 'SPY', sessionDate: monday }]));

describe.each(['option-trades', 'stock-trades'] as const)('files of %s', (dataset) => {
  let store: TestStore;
  beforeEach(async () => {
    store = await storeForThisTest();
  });
  const ingest = async (paths: readonly string[], options: Partial<IngestOptions> = {}) =>
    (await ingestFiles(store, dataset, paths, { now, ...options })).files;
  /** Number of prints that the stored figures of sessions are of. */
  const counts = async () => {
    const { rows } = await store.pool.query(
      'SELECT session_date AS date, prints FROM tape_sessions WHERE dataset = $1 ORDER BY 1',
      [dataset],
    );
    return Object.fromEntries(rows.map(({ date, prints }) => [date, prints]));
  };
  const waiting = async () =>
    (await store.pool.query('SELECT sum(prints)::int AS prints FROM tape_remainders')).rows[0].prints ?? 0;

  test('prints beside a file’s own session wait, and are joined with that session’s tape', async () => {
    const [first] = await ingest([file(dataset, [...day(monday), ...evening])]);
    expect(first).toMatchObject({
      status: 'stored',
      sessions: [{ session: monday, symbols: 1, before: 0, after: 14 }],
      left: [{ session: tuesday, reason: 'waiting', count: 3, symbols: 1 }],
    });
    expect(await counts()).toEqual({ [monday]: 14 });
    expect(await waiting()).toBe(3);
    const [second] = await ingest([file(dataset, day(tuesday, 100))]);
    expect(second).toMatchObject({
      status: 'stored',
      left: [],
      sessions: [{ session: tuesday, before: 0, after: 17 }],
    });
    expect(second!.notes).toContain('3 prints that waited for these sessions were joined');
    expect(await counts()).toEqual({ [monday]: 14, [tuesday]: 17 });
  });

  test('prints that wait are joined by a tape with prints of their symbol in that session, never by another’s', async () => {
    const of = (symbol: string, prints: readonly Print[]) => prints.map((each) => ({ ...each, symbol }));
    const evenings = file(dataset, [...day(monday), ...evening]);
    await ingest([evenings]);
    const [other] = await ingest([file(dataset, of('QQQ', day(tuesday, 100)))]);
    expect(other!.notes.join()).not.toMatch('waited');
    const tuesdays = async () => {
      const { rows } = await store.pool.query(
        'SELECT symbol, prints FROM tape_sessions WHERE session_date = $1 ORDER BY 1',
        [tuesday],
      );
      return rows;
    };
    expect(await tuesdays()).toEqual([{ symbol: 'QQQ', prints: 14 }]);
    expect(await waiting()).toBe(3);
    await ingest([file(dataset, day(tuesday, 100))]);
    expect(await tuesdays()).toEqual([
      { symbol: 'QQQ', prints: 14 },
      { symbol: 'SPY', prints: 17 },
    ]);
  });

  test.each([
    ['a live tape of the other kind', liveOfOtherKind],
    ['a chain captured from a source', capturedChain],
  ])('%s leaves the stored tape as it is: a file with less is counted', async (_, live) => {
    // The session is over, and its tape is stored of a file.
    await ingest([file(dataset, day(monday))]);
    await live(store, dataset);
    const [lesser] = await ingest([file(dataset, day(monday).slice(3))]);
    expect(lesser!.left).toMatchObject([{ session: monday, reason: 'fewer', count: 11, stored: 14, missing: 3 }]);
    expect(await counts()).toEqual({ [monday]: 14 });
  });

  test('a first tape beside live data of the other kind replaces nothing', async () => {
    await liveOfOtherKind(store, dataset);
    const [first] = await ingest([file(dataset, day(monday))]);
    expect(first!.sessions).toMatchObject([{ session: monday, before: 0, after: 14 }]);
  });

  test('prints wait beside another symbol’s own session in the same call', async () => {
    const others = day(tuesday, 100).map((each) => ({ ...each, symbol: 'QQQ' }));
    const reports = await ingest([file(dataset, [...day(monday), ...evening]), file(dataset, others)]);
    expect(reports.flatMap(({ left }) => left)).toMatchObject([
      { session: tuesday, reason: 'waiting', count: 3, symbols: 1 },
    ]);
    expect(await waiting()).toBe(3);
    const { rows } = await store.pool.query('SELECT symbol, session_date AS date FROM tape_sessions ORDER BY 1');
    expect(rows).toEqual([
      { symbol: 'QQQ', date: tuesday },
      { symbol: 'SPY', date: monday },
    ]);
  });

  test('a print that waits and is on the session’s own tape too counts once', async () => {
    await ingest([file(dataset, [...day(monday), ...evening])]);
    await ingest([file(dataset, [...evening, ...day(tuesday, 100)])]);
    expect((await counts())[tuesday]).toBe(17);
  });

  test('a file of which one session was left is read again, with files that complete it', async () => {
    await ingest([file(dataset, day(monday))]);
    const [first, second] = [day(monday).slice(0, 7), day(monday).slice(7)];
    // Its own session is stored, the one before is not: the tape that is stored has more.
    const both = file(dataset, [...first, ...day(tuesday, 100)]);
    const [partly] = await ingest([both]);
    expect(partly).toMatchObject({ sessions: [{ session: tuesday }], left: [{ session: monday, reason: 'fewer' }] });
    // With the rest of the session, and a print more, it says all.
    const rest = file(dataset, [...second, print(monday, at.noon + 1, 700)]);
    const reports = await ingest([both, rest]);
    expect(reports.flatMap(({ left }) => left)).toEqual([]);
    expect(await counts()).toEqual({ [monday]: 15, [tuesday]: 14 });
  });

  test('a stored session that would lose prints is not changed; the report counts them and names the command', async () => {
    const own = file(dataset, day(monday));
    await ingest([own]);
    const next = file(dataset, [...late, ...day(tuesday, 100)]);
    const [report] = await ingest([next]);
    expect(report).toMatchObject({ status: 'stored', sessions: [{ session: tuesday }] });
    expect(report!.left.map(leftLine)).toEqual([
      `${monday}: 1 print is here; stored from ${own} with 14. Not changed: reconcile --session ${monday} ${own} ${next}`,
    ]);
    expect(await counts()).toEqual({ [monday]: 14, [tuesday]: 14 });
  });

  test('a tape with more prints, which lacks some that are stored, does not replace them', async () => {
    await ingest([file(dataset, day(monday).slice(0, 5))]);
    const [report] = await ingest([file(dataset, day(monday).slice(5))]);
    expect(report).toMatchObject({ status: 'refused', left: [{ reason: 'fewer', count: 9, stored: 5, missing: 5 }] });
    expect(report!.reason).toMatch(/9 prints are here; stored from .* with 5, of which 5 are not here. Not changed/);
    expect(await counts()).toEqual({ [monday]: 5 });
    // The same prints and others replace it.
    expect(await ingest([file(dataset, day(monday))])).toMatchObject([
      { status: 'stored', sessions: [{ before: 5, after: 14 }] },
    ]);
  });

  test('a print that is in several files of one call counts once', async () => {
    const tape = day(monday);
    const paths = [tape.slice(0, 9), tape.slice(3), tape.slice(5, 7)].map((prints) => file(dataset, prints));
    const reports = await ingest(paths);
    expect(reports.map(({ status }) => status)).toEqual(['stored', 'stored', 'stored']);
    expect(reports[0]!.sessions).toMatchObject([{ session: monday, before: 0, after: 14 }]);
    expect(await counts()).toEqual({ [monday]: 14 });
    expect(reports.flatMap(({ notes }) => notes).filter((note) => note.includes('count once'))).toHaveLength(1);
    const rebuilt =
      dataset === 'stock-trades'
        ? await reconcileStocks(store, paths, { session: monday, maxErrors: 0, now })
        : await reconcile(
            store,
            { trades: paths, quotes: [], dayAggregates: [] },
            { session: monday, maxErrors: 0, now },
          );
    expect(rebuilt.status).toBe('reconciled');
    expect(await counts()).toEqual({ [monday]: 14 });
  });

  test('--replace writes the smaller tape', async () => {
    await ingest([file(dataset, day(monday))]);
    const [report] = await ingest([file(dataset, late)], { replace: true });
    expect(report).toMatchObject({ status: 'stored', sessions: [{ session: monday, before: 14, after: 1 }], left: [] });
    expect(await counts()).toEqual({ [monday]: 1 });
  });

  test('the command that the report names writes them', async () => {
    const [own, next] = [file(dataset, day(monday)), file(dataset, [...late, ...day(tuesday, 100)])];
    await ingest([own]);
    await ingest([next]);
    const options = { session: monday, maxErrors: 0, now };
    const report =
      dataset === 'stock-trades'
        ? await reconcileStocks(store, [own, next], options)
        : await reconcile(store, { trades: [own, next], quotes: [], dayAggregates: [] }, options);
    expect(report).toMatchObject({ status: 'reconciled', change: { session: monday, before: 14, after: 15 } });
    expect(await counts()).toEqual({ [monday]: 15, [tuesday]: 14 });
  });

  test('files of one call are parts of one tape, in either order', async () => {
    const parts = () => [
      file(dataset, [...day(monday), ...evening]),
      file(dataset, [...late, ...day(tuesday, 100).slice(0, 7)]),
      file(dataset, day(tuesday, 100).slice(7)),
    ];
    for (const paths of [parts(), parts().reverse()]) {
      store = await storeForThisTest();
      const reports = await ingest(paths);
      expect(reports.map(({ status, left }) => [status, left])).toEqual([...paths].map(() => ['stored', []]));
      expect(await counts()).toEqual({ [monday]: 15, [tuesday]: 17 });
    }
  });

  test('of a call the files that are stored already are read again if the others need them', async () => {
    const [own, next] = [file(dataset, day(monday)), file(dataset, [...late, ...day(tuesday, 100)])];
    await ingest([own]);
    expect((await ingest([own])).map(({ status }) => status)).toEqual(['unchanged']);
    expect((await ingest([own, next])).flatMap(({ left }) => left)).toEqual([]);
    expect(await counts()).toEqual({ [monday]: 15, [tuesday]: 14 });
    expect((await ingest([own, next])).map(({ status }) => status)).toEqual(['unchanged', 'unchanged']);
  });

  test('a file that is twice in a call counts once, and one that cannot be read stops no other', async () => {
    const [own, same] = [file(dataset, day(monday)), file(dataset, day(monday))];
    const broken = join(folder(), 'broken.csv');
    writeFileSync(broken, `${formats[dataset].header}\nno line`);
    const reports = await ingest([own, broken, same]);
    expect(reports.map(({ status }) => status)).toEqual(['stored', 'refused', 'unchanged']);
    expect(reports[1]!.badLineCount).toBe(1);
    expect(await counts()).toEqual({ [monday]: 14 });
  });

  test('prints of a sealed session do not refuse the file of another', async () => {
    await ingest([file(dataset, day(monday))]);
    expect(await sealSession(store, { session: monday, symbols: null }, { now })).toMatchObject({ status: 'sealed' });
    const [report] = await ingest([file(dataset, [...late, ...day(tuesday, 100)])]);
    expect(report).toMatchObject({ status: 'stored', left: [{ session: monday, reason: 'sealed', count: 1 }] });
    expect(await counts()).toEqual({ [monday]: 14, [tuesday]: 14 });
    // A tape that speaks for the session is refused as before.
    const [whole] = await ingest([file(dataset, [...day(monday), ...late])]);
    expect(whole).toMatchObject({ status: 'refused', reason: expect.stringContaining(`${monday} is sealed`) });
  });

  test('prints wait as long as the setting says', async () => {
    await ingest([file(dataset, [...day(monday), ...evening])]);
    expect(await waiting()).toBe(3);
    const later = (days: number) => () => now() + days * 86_400_000;
    await ingest([file(dataset, day('2026-11-12', 300))], { now: later(7), keepDays: 8 });
    expect(await waiting()).toBe(3);
    await ingest([file(dataset, day('2026-11-13', 300))], { now: later(9), keepDays: 8 });
    expect(await waiting()).toBe(0);
  });

  test('a file of an evening alone is stored, and the tape of the day is joined with it', async () => {
    expect(await ingest([file(dataset, evening)])).toMatchObject([{ status: 'stored', left: [] }]);
    expect(await counts()).toEqual({ [tuesday]: 3 });
    const [report] = await ingest([file(dataset, day(tuesday, 100))]);
    expect(report).toMatchObject({ status: 'stored', sessions: [{ before: 3, after: 17 }], left: [] });
  });
});

describe('what else is stored of a session', () => {
  const bars = (minutes: number) => {
    const path = join(folder(), `${++files}-bars.csv`);
    const lines = Array.from(
      { length: minutes },
      (_, i) => `SPY,100,600,600,600,600,${exchangeInstant(monday, at.open + i)}000000,1`,
    );
    writeFileSync(path, ['ticker,volume,open,close,high,low,window_start,transactions', ...lines].join('\n'));
    return path;
  };

  test('minute bars give way to a tape that reaches the close, not to one print', async () => {
    const store = await storeForThisTest();
    await ingestFiles(store, 'stock-minute-bars', [bars(200)], { now });
    const ingest = async (prints: Print[]) =>
      (await ingestFiles(store, 'stock-trades', [file('stock-trades', prints)], { now })).files[0]!;
    const [one] = [await ingest([print(monday, at.noon, 1)])];
    expect(one).toMatchObject({ status: 'refused', left: [{ count: 1, stored: null }] });
    expect(one.reason).toMatch(`${monday}: 1 print is here; stored, but not by a tape file. Not changed: reconcile`);
    expect(await ingest(day(monday))).toMatchObject({ status: 'stored', sessions: [{ before: null, after: 14 }] });
  });
});

test('a tape of stocks beside one of their options, of a session in progress, replaces nothing', async () => {
  const store = await storeForThisTest();
  const during = () => exchangeInstant(monday, at.noon);
  const early = day(monday).filter(({ minute }) => minute < at.noon);
  await ingestFiles(store, 'option-trades', [file('option-trades', early)], { now: during });
  const [report] = (await ingestFiles(store, 'stock-trades', [file('stock-trades', early)], { now: during })).files;
  expect(report!.sessions).toMatchObject([{ session: monday, before: 0, after: early.length }]);
});

describe('an option tape that ends before the close', () => {
  test('is not complete, and says how far it goes', async () => {
    const store = await storeForThisTest();
    const coverage = async () =>
      (await store.pool.query('SELECT complete, observed_through_ms::float8 AS through FROM flow_coverage')).rows[0];
    const cut = day(monday).slice(0, 4);
    await ingestFiles(store, 'option-trades', [file('option-trades', cut)], { now });
    expect(await coverage()).toEqual({ complete: false, through: exchangeInstant(monday, cut.at(-1)!.minute) });
    await ingestFiles(store, 'option-trades', [file('option-trades', day(monday))], { now });
    expect(await coverage()).toEqual({ complete: true, through: exchangeInstant(monday, 960) });
  });
});

describe.skipIf(!hasSharedData)('vendor files with prints of another session (passed over without them)', () => {
  const given = (name: string) => sharedData(`ingest_inputs/${name}`);
  const session = '2024-12-03';
  const volume = async (store: TestStore) => {
    const { rows } = await store.pool.query(
      'SELECT off_exch_volume::int AS volume FROM off_exchange_sessions WHERE session_date = $1',
      [session],
    );
    return rows[0].volume;
  };

  test('an evening print of the day before leaves its off-exchange activity', async () => {
    const store = await storeForThisTest();
    for (const n of [1, 2])
      await ingestFiles(store, 'stock-trades', [given(`evening-print-day${n}-stocks.csv`)], { now });
    expect(await volume(store)).toBe(20_000);
  });

  test('a late print of the day before leaves its minute bars', async () => {
    const store = await storeForThisTest();
    const [own, next] = [1, 2].map((n) => given(`late-print-day${n}-stocks.csv`));
    await ingestFiles(store, 'stock-trades', [own!], { now });
    const [report] = (await ingestFiles(store, 'stock-trades', [next!], { now })).files;
    expect(report!.left.map(leftLine)).toEqual([
      `${session}: 1 print is here; stored from ${own} with 600. Not changed: reconcile --session ${session} ${own} ${next}`,
    ]);
    const { rows } = await store.pool.query(
      `SELECT count FROM bar_blocks WHERE symbol = 'IWN' AND timeframe = '1m' AND span_start = $1`,
      [session],
    );
    expect(rows).toEqual([{ count: 200 }]);
  });

  test('the other way round, the print waits and is joined', async () => {
    const store = await storeForThisTest();
    for (const n of [2, 1]) await ingestFiles(store, 'stock-trades', [given(`late-print-day${n}-stocks.csv`)], { now });
    const { rows } = await store.pool.query('SELECT prints FROM tape_sessions WHERE session_date = $1', [session]);
    expect(rows).toEqual([{ prints: 601 }]);
  });

  test('another stock’s tape of the session leaves an evening print waiting', async () => {
    const store = await storeForThisTest();
    const names = ['waiting-1-pfe-day2-with-evening-of-day1.csv', 'waiting-2-ge-day1.csv'];
    const reports = [];
    for (const name of names) reports.push(...(await ingestFiles(store, 'stock-trades', [given(name)], { now })).files);
    expect(reports[1]!.sessions.map(({ session, symbols }) => [session, symbols])).toEqual([['2024-12-09', 1]]);
    const { rows } = await store.pool.query(
      `SELECT DISTINCT symbol, session_date AS date FROM tape_sessions ORDER BY 1`,
    );
    expect(rows).toEqual([
      { symbol: 'GE', date: '2024-12-09' },
      { symbol: 'PFE', date: '2024-12-10' },
    ]);
  });
});
