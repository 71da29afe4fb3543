import { tradeDate } from '../../core/domain/calendar.ts';
import type { StoredTimeframe } from '../../core/domain/market/bar.ts';
import { exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { findAny } from '../rows/models/any-of.ts';
import { selection } from '../rows/models/columns.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { readTogether } from '../rows/reads-together.ts';
import { type HeldKey, type HeldKind, heldId, readHeld } from '../versions/versioned-cache.ts';
import { spanStart } from './bar-codec.ts';

/** A block's row without its payload. */
export type BarHeader = Pick<Row<'BarBlock'>, keyof typeof headerFields>;

const headerFields = selection(['symbol', 'spanStart', 'firstTsMs', 'lastTsMs', 'count', 'version']);

/** Approximate bytes of a cached header. */
const headerBytes = 150;

const heldHeaders: HeldKind<BarHeader[]> = {
  subject: 'market',
  name: 'bar-headers',
  bytesOf: (headers) => headers.length * headerBytes,
};

/** Instants with a date of four digits; beyond them, ranges start at the first block or end at the last. */
const [earliestMs, latestMs] = [Date.UTC(1, 0, 2), Date.UTC(9998, 0)];
const [firstOfAll, lastOfAll] = ['0000-01-01', '9999-12-31'];

/** Maximum number of cached periods; a longer range is read each time. */
const mostPeriods = 24;

/** Number of date digits that identify a period of several spans: about as many headers as a day has hours. */
const periodDigits: Record<StoredTimeframe, number> = { '1s': 7, unpriced: 7, '1m': 7, '5m': 7, '1h': 4, '1d': 3 };

function nextPeriod(period: string): string {
  if (period.length < 7) return String(Number(period) + 1).padStart(period.length, '0');
  const [year, month] = [Number(period.slice(0, 4)), Number(period.slice(5))];
  return month < 12
    ? `${period.slice(0, 5)}${String(month + 1).padStart(2, '0')}`
    : `${String(year + 1).padStart(4, '0')}-01`;
}

/** The periods under which the headers of a range of spans are cached, as prefixes of their dates; null = too many. */
function periodsOf(timeframe: StoredTimeframe, first: SessionDate, last: SessionDate): string[] | null {
  if (first === last) return [first];
  const digits = periodDigits[timeframe];
  const periods = [first.slice(0, digits)];
  while (periods.at(-1)! < last.slice(0, digits)) {
    if (periods.length === mostPeriods) return null;
    periods.push(nextPeriod(periods.at(-1)!));
  }
  return periods;
}

/**
 * Headers of blocks with spans that begin between two dates, both included, by symbol, ascending. One statement for up
 * to 250 symbols.
 */
async function readHeaders(
  store: Store,
  symbols: readonly string[],
  timeframe: StoredTimeframe,
  first: SessionDate,
  last: SessionDate,
): Promise<Map<string, BarHeader[]>> {
  const { prisma } = readFrom(store, 'market', symbols);
  const rows = await findAny(symbols, (symbol) =>
    prisma.barBlock.findMany({
      where: { symbol, timeframe, spanStart: { gte: first, lte: last } },
      select: headerFields,
      orderBy: { spanStart: 'asc' },
    }),
  );
  return Map.groupBy(rows.map(numbered), ({ symbol }) => symbol);
}

/**
 * The headers of blocks of several symbols with bars in [fromMs, toMs), ascending; a symbol without any is absent. One
 * statement for up to 250 symbols, none if all are cached.
 */
export async function barHeaders(
  store: Store,
  symbols: readonly string[],
  timeframe: StoredTimeframe,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Promise<Map<string, BarHeader[]>> {
  // A bar is in the block of its trade date. Earlier releases ended blocks at midnight: theirs are those of New York
  // dates, which are never later.
  const first = fromMs < earliestMs ? firstOfAll : spanStart(timeframe, exchangeDate(fromMs));
  const last = toMs > latestMs ? lastOfAll : spanStart(timeframe, tradeDate(Math.max(toMs - 1, fromMs)));
  const isWithin = (header: BarHeader) => header.lastTsMs >= fromMs && header.firstTsMs < toMs;
  const within = (headers: ReadonlyMap<string, BarHeader[]>) =>
    new Map(
      [...headers]
        .map(([symbol, list]) => [symbol, list.filter(isWithin)] as const)
        .filter(([, { length }]) => length > 0),
    );
  const periods = periodsOf(timeframe, first, last);
  if (periods === null) return within(await readHeaders(store, symbols, timeframe, first, last));
  const part = (period: string) => `${timeframe} ${period}`;
  const keys = symbols.flatMap((symbol) => periods.map((period) => ({ symbol, part: part(period) })));
  const held = await readHeld(store, heldHeaders, keys, (missing) =>
    readTogether(store, `bar headers ${timeframe}`, missing, {
      idOf: heldId,
      read: (all) => readPeriods(store, timeframe, all),
    }),
  );
  return within(
    new Map(
      symbols.map((symbol) => [
        symbol,
        periods.flatMap((period) => held.get(heldId({ symbol, part: part(period) })) ?? []),
      ]),
    ),
  );
}

/** The headers of several symbols' periods by `heldId`. */
async function readPeriods(
  store: Store,
  timeframe: StoredTimeframe,
  keys: readonly HeldKey[],
): Promise<Map<string, BarHeader[]>> {
  const periodOf = ({ part }: HeldKey) => part!.slice(timeframe.length + 1);
  const periods = keys.map(periodOf);
  // A month may be read together with one of its days.
  const first = periods.map((period) => period + firstOfAll.slice(period.length)).sort()[0]!;
  const last = periods
    .map((period) => period + lastOfAll.slice(period.length))
    .sort()
    .at(-1)!;
  const symbols = [...new Set(keys.map(({ symbol }) => symbol))];
  const headers = await readHeaders(store, symbols, timeframe, first, last);
  return new Map(
    keys.flatMap((key) => {
      const found = headers.get(key.symbol)?.filter((header) => header.spanStart.startsWith(periodOf(key))) ?? [];
      return found.length > 0 ? [[heldId(key), found] as const] : [];
    }),
  );
}
