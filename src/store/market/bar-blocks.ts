import { tradeSpanAt } from '../../core/domain/calendar.ts';
import { type BarColumns, barColumns, type StoredTimeframe } from '../../core/domain/market/bar.ts';
import { barColumnNames } from '../../core/domain/market/bar-columns.ts';
import { addDays, exchangeDate, type SessionDate } from '../../core/domain/market-time.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { lock, lockAll, lockShared } from '../rows/locks.ts';
import { findKnownRows } from '../rows/models/known-rows.ts';
import { deleteRows, findRows, upsertRows } from '../rows/models/sets.ts';
import { readTogether } from '../rows/reads-together.ts';
import type { Transaction } from '../rows/transaction.ts';
import { blockVersion } from '../series/codec.ts';
import { assertBars, type BarBlockKey, decodeBars, encodeBars, spanStart } from './bar-codec.ts';
import { type BarHeader, barHeaders } from './bar-headers.ts';

/** The bars `start` to `end` (exclusive) of `bars`, sharing its memory. */
export function sliceBars(bars: BarColumns, start: number, end: number): BarColumns {
  const slice = Object.fromEntries(
    barColumnNames.map((name) => [name, bars[name].subarray(start, end)]),
  ) as unknown as BarColumns;
  if (bars.pricedVolume) slice.pricedVolume = bars.pricedVolume.subarray(start, end);
  return slice;
}

/** The bars whose index `isPicked`. */
export function pickBars(bars: BarColumns, isPicked: (index: number) => boolean): BarColumns {
  const picked = [...bars.tsMs.keys()].filter(isPicked);
  const columns = columnsFor([bars], picked.length);
  for (const name of barColumnNames) columns[name].set(picked.map((i) => bars[name][i]!));
  columns.pricedVolume?.set(picked.map((i) => bars.pricedVolume![i]!));
  return columns;
}

/** Allocates columns for `length` bars of `parts`. */
function columnsFor(parts: readonly BarColumns[], length: number): BarColumns {
  const columns = barColumns(length);
  if (parts.some(({ pricedVolume }) => pricedVolume)) columns.pricedVolume = new Float64Array(length);
  return columns;
}

/** Concatenated bars. */
export function concatBars(parts: readonly BarColumns[]): BarColumns {
  if (parts.length === 1) return parts[0]!;
  const length = parts.reduce((sum, part) => sum + part.tsMs.length, 0);
  const all = columnsFor(parts, length);
  let offset = 0;
  for (const part of parts) {
    for (const name of barColumnNames) all[name].set(part[name], offset);
    all.pricedVolume?.set(part.pricedVolume ?? part.volume, offset);
    offset += part.tsMs.length;
  }
  return all;
}

/**
 * The bars of a symbol's blocks, in order. Only blocks of earlier releases, which ended days at midnight, overlap the
 * next one: of a bar in both, that of the later block counts.
 */
function joined(parts: readonly BarColumns[]): BarColumns {
  const held = parts.filter(({ tsMs }) => tsMs.length > 0);
  if (held.length === 0) return barColumns(0);
  const isAscending = held.every(({ tsMs }, i) => i === 0 || held[i - 1]!.tsMs.at(-1)! < tsMs[0]!);
  return isAscending ? concatBars(held) : held.reduce(mergeBars);
}

/** The index of the first bar at or after `tsMs`. */
export function firstAtOrAfter(bars: BarColumns, tsMs: number): number {
  let low = 0;
  let high = bars.tsMs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bars.tsMs[middle]! < tsMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Merges two ascending runs; of a bar in both, the one of `newer` counts. */
export function mergeBars(older: BarColumns, newer: BarColumns): BarColumns {
  const merged = columnsFor([older, newer], older.tsMs.length + newer.tsMs.length);
  let o = 0;
  let n = 0;
  let length = 0;
  while (o < older.tsMs.length || n < newer.tsMs.length) {
    const olderTs = o < older.tsMs.length ? older.tsMs[o]! : Infinity;
    const newerTs = n < newer.tsMs.length ? newer.tsMs[n]! : Infinity;
    const [from, index] = newerTs <= olderTs ? [newer, n++] : [older, o];
    if (olderTs <= newerTs) o++;
    for (const name of barColumnNames) merged[name][length] = from[name][index]!;
    if (merged.pricedVolume) merged.pricedVolume[length] = (from.pricedVolume ?? from.volume)[index]!;
    length++;
  }
  return sliceBars(merged, 0, length);
}

const blockKey = ['symbol', 'timeframe', 'spanStart'] as const;
const payloadFields = ['symbol', 'spanStart', 'version', 'payload'] as const;

/** A request for one symbol's bars in [fromMs, toMs). `limit` stops reading early; Infinity reads all. */
export interface BarRange {
  fromMs: number;
  toMs: number;
  limit: number;
}

/** Bytes that a decoded bar takes. */
const bytesABar = 8 * barColumnNames.length;

/** Bytes of payload decoded before a yield to the event loop: about 2 ms of work. */
const yieldBytes = 256 * 1024;

function cacheKey(symbol: string, timeframe: StoredTimeframe, header: BarHeader): string {
  return `bars:${symbol}:${timeframe}:${header.spanStart}:${header.version}`;
}

/**
 * The leading blocks that together hold `limit` bars of the range; only the first and last may be partly outside it. Of
 * overlapping blocks (`joined`) only the first is certain to add its bars.
 */
function needed(blocks: BarHeader[], { fromMs, limit }: BarRange): BarHeader[] {
  let certain = 0;
  let throughMs = -Infinity;
  const taken: BarHeader[] = [];
  for (const block of blocks) {
    const overlaps = block.firstTsMs <= throughMs;
    if (certain >= limit && !overlaps) continue;
    taken.push(block);
    if (block.firstTsMs >= fromMs && !overlaps) certain += block.count;
    throughMs = Math.max(throughMs, block.lastTsMs);
  }
  return taken;
}

/**
 * The bars of blocks: from the cache, the others with one statement. `hold` gets the blocks that were read, with their
 * version.
 */
async function loadBlocks(
  store: Store,
  timeframe: StoredTimeframe,
  blocks: BarHeader[],
  hold: (key: string, bars: BarColumns) => void = (key, bars) =>
    store.blocks.set(key, bars, bars.tsMs.length * bytesABar),
): Promise<Map<BarHeader, BarColumns>> {
  const loaded = new Map<BarHeader, BarColumns>();
  const missing: BarHeader[] = [];
  for (const block of blocks) {
    const cached = store.blocks.get<BarColumns>(cacheKey(block.symbol, timeframe, block));
    if (cached) loaded.set(block, cached);
    else missing.push(block);
  }
  if (missing.length === 0) return loaded;
  const read = await readTogether(store, `bar blocks ${timeframe}`, missing, {
    idOf: blockId,
    read: (all) => readBlocks(store, timeframe, all),
  });
  for (const block of missing) {
    const found = read.get(blockId(block));
    if (!found) continue;
    // The block may have been rewritten since its header was read, so it is cached under its current version.
    hold(cacheKey(block.symbol, timeframe, { ...block, version: found.version }), found.bars);
    loaded.set(block, found.bars);
  }
  return loaded;
}

/** The key of a stock's block. Its bars are known to be made of prints if no vendor reports bars of their length. */
export function stockBlockKey(
  timeframe: StoredTimeframe,
  { symbol, spanStart: span }: Pick<BarHeader, 'symbol' | 'spanStart'>,
): BarBlockKey {
  return { of: symbol, timeframe, spanStart: span, ofPrints: timeframe === '1s' || timeframe === 'unpriced' };
}

const blockId = ({ symbol, spanStart: span }: Pick<BarHeader, 'symbol' | 'spanStart'>) => `${symbol} ${span}`;

/** The bars of blocks by `blockId`, with one statement. */
async function readBlocks(store: Store, timeframe: StoredTimeframe, blocks: readonly BarHeader[]) {
  const keys = blocks.map((block) => ({ ...block, timeframe }));
  const from = readFrom(store, 'market', new Set(keys.map(({ symbol }) => symbol)));
  const rows = await findKnownRows(store, from, 'BarBlock', { by: blockKey, keys }, payloadFields);
  const read = new Map<string, { version: string; bars: BarColumns }>();
  let bytes = 0;
  for (const row of rows) {
    read.set(blockId(row), { version: row.version, bars: decodeBars(row.payload, stockBlockKey(timeframe, row)) });
    bytes += row.payload.length;
    if (bytes < yieldBytes) continue;
    bytes = 0;
    await yieldToEventLoop();
  }
  return read;
}

/**
 * The bars of blocks that the caller caches itself: they are read from the cache, but not added to it. One statement.
 */
export function loadBlocksOnce(
  store: Store,
  timeframe: StoredTimeframe,
  blocks: BarHeader[],
): Promise<Map<BarHeader, BarColumns>> {
  return loadBlocks(store, timeframe, blocks, () => {});
}

/**
 * Bars of several symbols in one range: two statements for any number of symbols, none if all are cached. Every symbol
 * is in the result; each run is ascending and has at most `limit` bars. With `limit`, `more` is true if bars of the
 * range were omitted.
 */
export async function readBars(
  store: Store,
  symbols: readonly string[],
  timeframe: StoredTimeframe,
  range: BarRange,
): Promise<Map<string, { bars: BarColumns; more: boolean }>> {
  const headers = await barHeaders(store, symbols, timeframe, range);
  // One bar more than the limit is read, to know whether there are more.
  const wanted = new Map(
    [...headers].map(([symbol, blocks]) => [symbol, needed(blocks, { ...range, limit: range.limit + 1 })]),
  );
  const loaded = await loadBlocks(store, timeframe, [...wanted.values()].flat());
  const answer = new Map<string, { bars: BarColumns; more: boolean }>();
  for (const symbol of symbols) {
    const parts = (wanted.get(symbol) ?? []).flatMap((block) => {
      const bars = loaded.get(block);
      return bars ? [sliceBars(bars, firstAtOrAfter(bars, range.fromMs), firstAtOrAfter(bars, range.toMs))] : [];
    });
    const all = joined(parts);
    const more = all.tsMs.length > range.limit;
    answer.set(symbol, { bars: more ? sliceBars(all, 0, range.limit) : all, more });
  }
  return answer;
}

/** The start of the last bar in [fromMs, toMs) per symbol; a symbol without one is absent. */
export async function lastBarStarts(
  store: Store,
  symbols: readonly string[],
  timeframe: StoredTimeframe,
  fromMs: number,
  toMs: number,
): Promise<Map<string, number>> {
  const headers = await barHeaders(store, symbols, timeframe, { fromMs, toMs });
  const last = new Map<string, number>();
  const partly: BarHeader[] = [];
  for (const [symbol, blocks] of headers) {
    // The last two, because blocks of earlier releases overlap the next one (`joined`).
    for (const block of blocks.slice(-2)) {
      if (block.lastTsMs >= toMs) partly.push(block);
      else if (block.lastTsMs > (last.get(symbol) ?? -Infinity)) last.set(symbol, block.lastTsMs);
    }
  }
  for (const [block, bars] of await loadBlocks(store, timeframe, partly)) {
    const index = firstAtOrAfter(bars, toMs) - 1;
    const tsMs = index >= 0 ? bars.tsMs[index]! : -Infinity;
    if (tsMs >= fromMs && tsMs > (last.get(block.symbol) ?? -Infinity)) last.set(block.symbol, tsMs);
  }
  return last;
}

/** Bars of one symbol to write. */
export interface BarRun {
  symbol: string;
  /** Ascending by tsMs, without duplicates. */
  bars: BarColumns;
  /**
   * Set if the run has every bar of these instants, excluding `toMs`: other stored bars there are removed. Absent = the
   * run is merged with the stored bars.
   */
  whole?: { fromMs: number; toMs: number };
}

interface Span extends BarRun {
  spanStart: SessionDate;
}

function spansOf(timeframe: StoredTimeframe, { symbol, bars, whole }: BarRun): Span[] {
  const spans: Span[] = [];
  let start = 0;
  let span = '';
  let sessionEndMs = -Infinity;
  for (let i = 0; i <= bars.tsMs.length; i++) {
    // Within a session the date is known: computing it costs more than everything else.
    if (i < bars.tsMs.length && bars.tsMs[i]! < sessionEndMs) continue;
    const session = i < bars.tsMs.length ? tradeSpanAt(bars.tsMs[i]!) : null;
    sessionEndMs = session?.toMs ?? Infinity;
    const next = session === null ? '' : spanStart(timeframe, session.date);
    if (next === span) continue;
    if (i > start) spans.push({ symbol, spanStart: span, bars: sliceBars(bars, start, i), ...(whole && { whole }) });
    [start, span] = [i, next];
  }
  return spans;
}

const holdsBars = ({ bars }: Pick<BarRun, 'bars'>) => bars.tsMs.length > 0;
const lastFields = ['symbol', 'spanStart', 'lastTsMs'] as const;

/**
 * Empty spans for blocks that overlap whole runs and get no bars of them: those that earlier releases ended at
 * midnight, and the session's own if the run has no bar. Their bars of these instants are removed.
 */
async function supersededSpans(tx: Transaction, timeframe: StoredTimeframe, runs: readonly BarRun[]): Promise<Span[]> {
  const spans = runs.flatMap(({ symbol, bars, whole }): Span[] => {
    if (whole === undefined) return [];
    const { date } = tradeSpanAt(whole.fromMs);
    const starts = new Set([spanStart(timeframe, date)]);
    for (let day = exchangeDate(whole.fromMs); day < date; day = addDays(day, 1)) starts.add(spanStart(timeframe, day));
    if (bars.tsMs.length > 0) starts.delete(spanStart(timeframe, date));
    return [...starts].map((start) => ({ symbol, spanStart: start, bars: barColumns(0), whole }));
  });
  if (spans.length === 0) return [];
  const keys = spans.map((span) => ({ ...span, timeframe }));
  const rows = await findRows(tx, 'BarBlock', { by: blockKey, keys }, lastFields);
  const last = new Map(rows.map((row) => [`${row.symbol} ${row.spanStart}`, row.lastTsMs]));
  return spans.filter((span) => (last.get(`${span.symbol} ${span.spanStart}`) ?? -Infinity) >= span.whole!.fromMs);
}

/** The stored bars that a run does not replace. */
function standing(bars: BarColumns, { whole }: Span): BarColumns {
  if (!whole) return bars;
  const [from, to] = [firstAtOrAfter(bars, whole.fromMs), firstAtOrAfter(bars, whole.toMs)];
  return concatBars([sliceBars(bars, 0, from), sliceBars(bars, to, bars.tsMs.length)]);
}

/** A written block. */
export interface WrittenBlock {
  symbol: string;
  spanStart: SessionDate;
  /** All bars of the block, including earlier ones; empty if it was removed. */
  bars: BarColumns;
  /** Its former bars. */
  before: BarColumns;
}

/** A block's bars before and after a change. */
export interface BarChange {
  symbol: string;
  before: BarColumns;
  after: BarColumns;
}

/** Throws if blocks must not be changed. */
export type BarGuard = (tx: Transaction, changes: readonly BarChange[]) => Promise<void>;

/** Options of writing bars. */
export interface BarWriteOptions {
  /** True if the caller holds `lockAllBarBlocks`. */
  locked?: boolean;
  /** Called before anything is written; throws to prevent the write. */
  unless?: BarGuard;
  /** Returns the bars of a run to write beside those stored in its block; all of them unless given. */
  pick?(run: Pick<WrittenBlock, 'symbol' | 'before' | 'bars'>): BarColumns;
}

/**
 * Locks every block for a long writer (a whole file) until its transaction ends, so that it requires no lock per block,
 * which would be too many.
 */
export async function lockAllBarBlocks(tx: Transaction): Promise<void> {
  await lock(tx, 'bar_blocks');
}

/** Blocks long writers of bars until the transaction ends, for a writer that reads their data first. */
export async function holdBarBlocks(tx: Transaction): Promise<void> {
  await lockShared(tx, 'bar_blocks');
}

/**
 * Merges bars into their blocks, inside the caller's transaction; a stored bar is replaced if it differs. Returns the
 * changed blocks. Writers of one block wait for each other.
 */
export async function writeBars(
  tx: Transaction,
  timeframe: StoredTimeframe,
  runs: readonly BarRun[],
  { locked = false, unless, pick = ({ bars }) => bars }: BarWriteOptions = {},
): Promise<WrittenBlock[]> {
  // Locking in key order prevents deadlocks.
  const spans = runs
    .flatMap((run) => spansOf(timeframe, run))
    .concat(await supersededSpans(tx, timeframe, runs))
    .sort((a, b) => (a.symbol + a.spanStart < b.symbol + b.spanStart ? -1 : 1));
  if (spans.length === 0) return [];
  if (!locked) {
    await holdBarBlocks(tx);
    await lockAll(
      tx,
      spans.map((span) => `bars ${timeframe} ${span.symbol} ${span.spanStart}`),
    );
  }
  const keys = spans.map(({ symbol, spanStart: span }) => ({ symbol, timeframe, spanStart: span }));
  const rows = await findRows(tx, 'BarBlock', { by: blockKey, keys }, payloadFields);
  const existing = new Map(rows.map((row) => [`${row.symbol} ${row.spanStart}`, row]));
  const changed = spans.flatMap((span) => {
    const key = stockBlockKey(timeframe, span);
    // Runs that replace all bars of their instants are made of prints.
    if (span.whole) assertBars.onWrite({ ...key, ofPrints: true, bars: span.bars });
    const old = existing.get(`${span.symbol} ${span.spanStart}`);
    const before = old ? decodeBars(old.payload, key) : barColumns(0);
    const bars = old ? mergeBars(standing(before, span), pick({ ...span, before })) : span.bars;
    const payload = encodeBars(bars, key);
    const version = blockVersion(payload);
    return old?.version === version ? [] : [{ ...span, bars, before, payload: Buffer.from(payload), version }];
  });
  if (changed.length === 0) return [];
  await unless?.(
    tx,
    changed.map(({ symbol, before, bars }) => ({ symbol, before, after: bars })),
  );
  const [kept, emptied] = [changed.filter(holdsBars), changed.filter((span) => !holdsBars(span))];
  await deleteRows(tx, 'BarBlock', { by: blockKey, keys: emptied.map((span) => ({ ...span, timeframe })) });
  const written = kept.map(({ bars: { tsMs }, before: _, ...block }) => ({
    ...block,
    timeframe,
    firstTsMs: tsMs[0]!,
    lastTsMs: tsMs.at(-1)!,
    count: tsMs.length,
  }));
  await upsertRows(tx, 'BarBlock', written);
  return changed;
}
