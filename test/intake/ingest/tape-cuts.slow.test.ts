// Small random tapes over some days, cut in random ways: however they come, no stored print is lost without a word.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closedUntil, tradeDate } from '../../../src/core/domain/calendar.ts';
import { exchangeDate, exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { type FileReport, ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { reconcile } from '../../../src/intake/ingest/options/reconcile.ts';
import { reconcileStocks } from '../../../src/intake/ingest/reconcile-stocks.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { contentsOf } from '../../support/store-contents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// A Friday to the Tuesday after it.
const first = exchangeInstant('2026-11-13', 300);
const last = exchangeInstant('2026-11-17', 1300);
const nowMs = exchangeInstant('2026-11-19', 720);
const now = () => nowMs;

interface Print {
  ms: number;
  symbol: number;
  exchange: number;
  size: number;
  /** Its place on the tape, from 1. */
  id: number;
}

const formats = {
  'option-trades': {
    header: 'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    line: ({ ms, symbol, exchange, size }: Print) =>
      `${['O:SPY261218C00600000', 'O:SPY261218P00580000', 'O:QQQ261218C00500000'][symbol]},209,0,${300 + exchange},5,${ms}000000,${size}`,
  },
  'stock-trades': {
    header: 'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
    line: ({ ms, symbol, exchange, size, id }: Print) =>
      `${['AAPL', 'QQQ', 'SPY'][symbol]},,${exchange},${id},600,${id},${ms}000000,${size},2,202`,
  },
};
type Dataset = keyof typeof formats;

const cuts = {
  'trade date': ({ ms }: Print) => tradeDate(ms),
  'UTC date': ({ ms }: Print) => new Date(ms).toISOString().slice(0, 10),
  'New York date': ({ ms }: Print) => exchangeDate(ms),
  'four hours': ({ ms }: Print) => String(Math.floor(ms / 14_400_000)),
  size: ({ id }: Print) => String(Math.floor(id / 7)),
};
type Cut = keyof typeof cuts;

// Half of the prints are in the hours of trading; instants are minutes, which several prints share.
const minutes = fc.oneof(
  fc.integer({ min: 0, max: Math.floor((last - first) / 60_000) }).map((minute) => first + minute * 60_000),
  fc
    .tuple(fc.constantFrom('2026-11-13', '2026-11-16', '2026-11-17'), fc.integer({ min: 570, max: 960 }))
    .map(([date, minute]) => exchangeInstant(date, minute)),
);
const prints = fc
  .array(
    fc.record({
      ms: minutes,
      symbol: fc.integer({ min: 0, max: 2 }),
      exchange: fc.constantFrom(4, 11, 12),
      size: fc.integer({ min: 100, max: 9000 }),
    }),
    { minLength: 4, maxLength: 40 },
  )
  // As vendors write them: by ticker, then time. Most are on days with trading, or the tape is refused.
  .map((all) => all.toSorted((a, b) => a.symbol - b.symbol || a.ms - b.ms))
  // Two of a contract are not at one instant, exchange: their order in two parts would be the only difference.
  .map((all) => all.map((print, i): Print => ({ ...print, ms: print.ms + i, id: i + 1 })));

const folder = temporaryFolder();
let files = 0;
function file(dataset: Dataset, part: readonly Print[]): string {
  const path = join(folder(), `${++files}.csv`);
  writeFileSync(path, [formats[dataset].header, ...part.map(formats[dataset].line)].join('\n'));
  return path;
}

/** A file of prints at times without trading alone is refused, for its zone. */
const closed = (ms: number) => ms < closedUntil(exchangeDate(ms));

const omitted = {
  tables: ['ingested_files'],
  columns: { symbols: ['version_added', 'updated_version'] },
};

async function contents(store: TestStore) {
  return contentsOf(store, omitted);
}

/** Prints in stored sessions, and those that wait. */
async function printsOf(store: TestStore) {
  const count = async (table: string) =>
    (await store.pool.query(`SELECT coalesce(sum(prints), 0)::int AS n FROM ${table}`)).rows[0].n as number;
  return { stored: await count('tape_sessions'), waiting: await count('tape_remainders') };
}

const sums = (reports: readonly FileReport[]) => {
  const of = (isWaiting: boolean) =>
    reports
      .flatMap(({ left }) => left)
      .filter(({ reason }) => (reason === 'waiting') === isWaiting)
      .reduce((sum, each) => sum + each.count, 0);
  return { waiting: of(true), left: of(false) };
};

const tape = fc.tuple(
  prints.map((all) => all.filter(({ ms }) => !closed(ms))).filter((all) => all.length > 0),
  fc.constantFrom<Cut>('trade date', 'UTC date', 'New York date', 'four hours', 'size'),
  fc.infiniteStream(fc.nat(1000)),
);
const partsOf = (all: readonly Print[], cut: Cut) => [...Map.groupBy(all, cuts[cut]).values()];
/** Parts of which each has some prints of the one before it too, and the first of them twice. */
const overlapping = (parts: readonly Print[][], most: number) => {
  const cut = parts.map((part, i) => [...(parts[i - 1] ?? []).slice(-1 - (most % 5)), ...part]);
  return [...cut, parts[0]!.slice(0, 3)];
};
/** Tapes that each of the tests cuts; to look further: TAPE_CUTS=100. */
const tapes = Number(process.env.TAPE_CUTS ?? 6);
const runs = { numRuns: tapes, seed: 20261125, endOnFailure: true };
const timeout = 300_000;

describe.each(['option-trades', 'stock-trades'] as const)('%s in parts', (dataset) => {
  test(
    'given together are the same bytes as one file, ingested and reconciled',
    async () => {
      await fc.assert(
        fc.asyncProperty(tape, async ([all, cut]) => {
          const parts = partsOf(all, cut).map((part) => file(dataset, part));
          const [whole, together, rebuilt] = [
            await storeForThisTest(),
            await storeForThisTest(),
            await storeForThisTest(),
          ];
          const one = file(dataset, all);
          const [report] = (await ingestFiles(whole, dataset, [one], { now })).files;
          expect(report!.badLines).toEqual([]);
          for (const each of (await ingestFiles(together, dataset, parts, { now })).files)
            expect(each.status, each.reason ?? '').toBe('stored');
          expect(await contents(together)).toEqual(await contents(whole));
          const sessions = new Set(report!.sessions.map(({ session }) => session));
          for (const session of sessions) {
            const options = { session, maxErrors: 0, now };
            const done =
              dataset === 'stock-trades'
                ? await reconcileStocks(rebuilt, parts, options)
                : await reconcile(rebuilt, { trades: parts, quotes: [], dayAggregates: [] }, options);
            expect(done.status, done.reason ?? '').toBe('reconciled');
          }
          const { tape_remainders: _, ...ofSessions } = await contents(rebuilt);
          expect(ofSessions).toEqual({ ...(await contents(whole)), tape_remainders: undefined });
        }),
        runs,
      );
    },
    timeout,
  );

  test(
    'that overlap are the same bytes as one file, given together',
    async () => {
      await fc.assert(
        fc.asyncProperty(tape, async ([all, cut, most]) => {
          const parts = overlapping(partsOf(all, cut), most.next().value!).map((part) => file(dataset, part));
          const [whole, together] = [await storeForThisTest(), await storeForThisTest()];
          await ingestFiles(whole, dataset, [file(dataset, all)], { now });
          await ingestFiles(together, dataset, parts, { now });
          expect(await contents(together)).toEqual(await contents(whole));
        }),
        runs,
      );
    },
    timeout,
  );

  test(
    'given one after another, in any order, lose no stored print; what is not stored is counted',
    async () => {
      await fc.assert(
        fc.asyncProperty(tape, async ([all, cut, keys]) => {
          const parts = partsOf(all, cut)
            .map((part) => ({ part, key: keys.next().value! }))
            .sort((a, b) => a.key - b.key)
            .map(({ part }) => part);
          const store = await storeForThisTest();
          let [given, left, before] = [0, 0, 0];
          const inSessions = new Map<string, number>();
          for (const part of parts) {
            const [report] = (await ingestFiles(store, dataset, [file(dataset, part)], { now })).files;
            given += part.length;
            left += sums([report!]).left;
            const { stored, waiting } = await printsOf(store);
            expect(stored, 'prints that were stored').toBeGreaterThanOrEqual(before);
            before = stored;
            for (const { session, after } of report!.sessions) inSessions.set(session, after);
            // Prints of a session that waited stay for as long as the setting says, also once they were joined.
            expect(stored + left + waiting).toBeGreaterThanOrEqual(given);
          }
        }),
        runs,
      );
    },
    timeout,
  );
});
