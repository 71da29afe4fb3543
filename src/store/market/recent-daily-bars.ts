import { type BarColumns, barColumns } from '../../core/domain/market/bar.ts';
import { addDays, exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import type { Store } from '../rows/connection.ts';
import { type HeldKind, heldId, readHeld } from '../versions/versioned-cache.ts';
import { concatBars, firstAtOrAfter, loadBlocksOnce, sliceBars } from './bar-blocks.ts';
import { type BarHeader, barHeaders } from './bar-headers.ts';

const heldBars: HeldKind<BarColumns> = {
  subject: 'market',
  name: 'recent-daily-bars',
  bytesOf: ({ tsMs }) => tsMs.length * 64,
};

/** Number of blocks per statement, decoded before a yield to the event loop: some 6 MB of a year each. */
const blocksAtOnce = 1000;

/**
 * The daily bars of several symbols in `days` calendar days up to `last`, this date included, ascending. Every symbol
 * is in the result. Only these bars are cached, not the years that contain them, so that the prices of all symbols take
 * a few MB of the cache. Two statements for up to 1,000 symbols, none if all are cached.
 */
export async function recentDailyBars(
  store: Store,
  symbols: readonly string[],
  last: SessionDate,
  days: number,
): Promise<Map<string, BarColumns>> {
  const part = `${last} ${days}`;
  const range = { fromMs: exchangeInstant(addDays(last, -days)), toMs: exchangeInstant(addDays(last, 1)) };
  const keys = symbols.map((symbol) => ({ symbol, part }));
  const held = await readHeld(store, heldBars, keys, async (missing) => {
    const headers = await barHeaders(
      store,
      missing.map(({ symbol }) => symbol),
      '1d',
      range,
    );
    const runs = await readRuns(store, [...headers.values()], range);
    return new Map(Array.from(runs, ([symbol, bars]) => [heldId({ symbol, part }), bars]));
  });
  return new Map(keys.map((key) => [key.symbol, held.get(heldId(key)) ?? barColumns(0)]));
}

/** The bars in [fromMs, toMs) of blocks, one list per symbol. */
async function readRuns(
  store: Store,
  lists: readonly BarHeader[][],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<Map<string, BarColumns>> {
  const runs = new Map<string, BarColumns>();
  for (let start = 0; start < lists.length; start += blocksAtOnce) {
    if (start > 0) await yieldToEventLoop();
    const some = lists.slice(start, start + blocksAtOnce);
    const loaded = await loadBlocksOnce(store, '1d', some.flat());
    for (const headers of some) {
      const parts = headers.flatMap((header) => loaded.get(header) ?? []);
      const all = concatBars(parts);
      // A copy: a slice would retain the whole block.
      runs.set(headers[0]!.symbol, copied(sliceBars(all, firstAtOrAfter(all, fromMs), firstAtOrAfter(all, toMs))));
    }
  }
  return runs;
}

function copied(bars: BarColumns): BarColumns {
  return concatBars([bars, barColumns(0)]);
}
