import { createHash } from 'node:crypto';
import type pg from 'pg';
import { type BarColumns, barColumnNames, barColumns, type Timeframe } from '../domain/bar.ts';
import { addDays, exchangeDate, exchangeInstant, type SessionDate } from '../domain/market-time.ts';
import { decodeBlock, encodeBlock, numbers } from './codec.ts';
import { readFrom, type Store } from './connection.ts';

/** The span a bar's block covers: its session for 1s, 1m and 5m, its month for 1h, its year for 1d; named by its first date. */
export function spanStart(timeframe: Timeframe, date: SessionDate): SessionDate {
  if (timeframe === '1d') return `${date.slice(0, 4)}-01-01`;
  if (timeframe === '1h') return `${date.slice(0, 7)}-01`;
  return date;
}

/** Content hash of a payload: equal content, equal version. */
export function blockVersion(payload: Uint8Array): string {
  return createHash('sha256').update(payload).digest('base64url').slice(0, 16);
}

/** Bars as a column block. */
export function encodeBars(bars: BarColumns): Uint8Array<ArrayBuffer> {
  return encodeBlock({ ...bars });
}

/** The bars of a column block. */
export function decodeBars(payload: Uint8Array): BarColumns {
  const columns = decodeBlock(payload);
  return Object.fromEntries(barColumnNames.map((name) => [name, numbers(columns, name)])) as unknown as BarColumns;
}

/** The bars `start` to `end` (exclusive) of `bars`, sharing its memory. */
export function sliceBars(bars: BarColumns, start: number, end: number): BarColumns {
  return Object.fromEntries(
    barColumnNames.map((name) => [name, bars[name].subarray(start, end)]),
  ) as unknown as BarColumns;
}

/** Bars one after another. */
export function concatBars(parts: readonly BarColumns[]): BarColumns {
  if (parts.length === 1) return parts[0]!;
  const all = barColumns(parts.reduce((sum, part) => sum + part.tsMs.length, 0));
  let offset = 0;
  for (const part of parts) {
    for (const name of barColumnNames) all[name].set(part[name], offset);
    offset += part.tsMs.length;
  }
  return all;
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

/** Merges two ascending runs; where both have a bar, the one of `newer` counts. */
export function mergeBars(older: BarColumns, newer: BarColumns): BarColumns {
  const merged = barColumns(older.tsMs.length + newer.tsMs.length);
  let o = 0;
  let n = 0;
  let length = 0;
  while (o < older.tsMs.length || n < newer.tsMs.length) {
    const olderTs = o < older.tsMs.length ? older.tsMs[o]! : Infinity;
    const newerTs = n < newer.tsMs.length ? newer.tsMs[n]! : Infinity;
    const [from, index] = newerTs <= olderTs ? [newer, n++] : [older, o];
    if (olderTs <= newerTs) o++;
    for (const name of barColumnNames) merged[name][length] = from[name][index]!;
    length++;
  }
  return sliceBars(merged, 0, length);
}

/** What a block's row says of it without its payload. */
interface BlockFacts {
  symbol: string;
  span_start: string;
  first_ts_ms: string;
  last_ts_ms: string;
  count: number;
  version: string;
}

/** A request for one symbol's bars in [fromMs, toMs). `limit` stops reading early; Infinity reads all. */
export interface BarRange {
  fromMs: number;
  toMs: number;
  limit: number;
}

function cacheKey(symbol: string, timeframe: Timeframe, facts: BlockFacts): string {
  return `bars:${symbol}:${timeframe}:${facts.span_start}:${facts.version}`;
}

async function blockFacts(
  store: Store,
  symbols: readonly string[],
  timeframe: Timeframe,
  range: BarRange,
): Promise<Map<string, BlockFacts[]>> {
  const { rows } = await readFrom(store).query<BlockFacts>({
    name: 'bar-block-facts',
    text: `SELECT symbol, span_start, first_ts_ms, last_ts_ms, count, version FROM bar_blocks
           WHERE symbol = ANY($1) AND timeframe = $2 AND last_ts_ms >= $3 AND first_ts_ms < $4 ORDER BY symbol, span_start`,
    values: [symbols, timeframe, range.fromMs, range.toMs],
  });
  const bySymbol = new Map<string, BlockFacts[]>();
  for (const row of rows) {
    const list = bySymbol.get(row.symbol);
    if (list) list.push(row);
    else bySymbol.set(row.symbol, [row]);
  }
  return bySymbol;
}

/** The leading blocks that together hold `limit` bars of the range; only the first and last may be partly outside it. */
function needed(blocks: BlockFacts[], { fromMs, limit }: BarRange): BlockFacts[] {
  let certain = 0;
  const taken: BlockFacts[] = [];
  for (const block of blocks) {
    if (certain >= limit) break;
    taken.push(block);
    if (Number(block.first_ts_ms) >= fromMs) certain += block.count;
  }
  return taken;
}

async function loadBlocks(
  store: Store,
  timeframe: Timeframe,
  blocks: BlockFacts[],
): Promise<Map<BlockFacts, BarColumns>> {
  const loaded = new Map<BlockFacts, BarColumns>();
  const missing: BlockFacts[] = [];
  for (const block of blocks) {
    const cached = store.blocks.get<BarColumns>(cacheKey(block.symbol, timeframe, block));
    if (cached) loaded.set(block, cached);
    else missing.push(block);
  }
  if (missing.length === 0) return loaded;
  const { rows } = await readFrom(store).query<{
    symbol: string;
    span_start: string;
    version: string;
    payload: Buffer;
  }>({
    name: 'bar-block-payloads',
    text: `SELECT b.symbol, b.span_start, b.version, b.payload FROM unnest($1::text[], $3::text[]) AS wanted(symbol, span_start)
           JOIN bar_blocks b ON b.symbol = wanted.symbol AND b.timeframe = $2 AND b.span_start = wanted.span_start`,
    values: [missing.map((block) => block.symbol), timeframe, missing.map((block) => block.span_start)],
  });
  const byKey = new Map(missing.map((block) => [`${block.symbol} ${block.span_start}`, block]));
  for (const row of rows) {
    const block = byKey.get(`${row.symbol} ${row.span_start}`);
    if (!block) continue;
    const bars = decodeBars(row.payload);
    // The block may have been rewritten since its facts were read: cache it under the version it has.
    store.blocks.set(cacheKey(row.symbol, timeframe, { ...block, version: row.version }), bars, bars.tsMs.length * 64);
    loaded.set(block, bars);
  }
  return loaded;
}

/**
 * Bars of several symbols in one range: two statements however many symbols. Every symbol is in the answer; each run is
 * ascending and holds at most `limit` bars. With `limit`, `more` says whether bars of the range were left out.
 */
export async function readBars(
  store: Store,
  symbols: readonly string[],
  timeframe: Timeframe,
  range: BarRange,
): Promise<Map<string, { bars: BarColumns; more: boolean }>> {
  const facts = await blockFacts(store, symbols, timeframe, range);
  // One bar more than the limit is looked for, to know whether there is more.
  const wanted = new Map(
    [...facts].map(([symbol, blocks]) => [symbol, needed(blocks, { ...range, limit: range.limit + 1 })]),
  );
  const loaded = await loadBlocks(store, timeframe, [...wanted.values()].flat());
  const answer = new Map<string, { bars: BarColumns; more: boolean }>();
  for (const symbol of symbols) {
    const parts = (wanted.get(symbol) ?? []).flatMap((block) => {
      const bars = loaded.get(block);
      return bars ? [sliceBars(bars, firstAtOrAfter(bars, range.fromMs), firstAtOrAfter(bars, range.toMs))] : [];
    });
    const all = parts.length === 0 ? barColumns(0) : concatBars(parts);
    const more = all.tsMs.length > range.limit;
    answer.set(symbol, { bars: more ? sliceBars(all, 0, range.limit) : all, more });
  }
  return answer;
}

/** The start of the last bar in [fromMs, toMs) per symbol; a symbol without one is absent. */
export async function lastBarStarts(
  store: Store,
  symbols: readonly string[],
  timeframe: Timeframe,
  fromMs: number,
  toMs: number,
): Promise<Map<string, number>> {
  const facts = await blockFacts(store, symbols, timeframe, { fromMs, toMs, limit: Infinity });
  const last = new Map<string, number>();
  const partly: BlockFacts[] = [];
  for (const [symbol, blocks] of facts) {
    const block = blocks.at(-1)!;
    if (Number(block.last_ts_ms) < toMs) last.set(symbol, Number(block.last_ts_ms));
    else partly.push(...blocks.slice(-2));
  }
  for (const [block, bars] of await loadBlocks(store, timeframe, partly)) {
    const index = firstAtOrAfter(bars, toMs) - 1;
    const tsMs = index >= 0 ? bars.tsMs[index]! : -Infinity;
    if (tsMs >= fromMs && tsMs > (last.get(block.symbol) ?? -Infinity)) last.set(block.symbol, tsMs);
  }
  return last;
}

/** Bars of one symbol to be written. */
export interface BarRun {
  symbol: string;
  /** Ascending by tsMs, no two alike. */
  bars: BarColumns;
  /** The run is every bar of these instants, `toMs` excluded: others stored there are taken out. Absent = the run adds to what is stored. */
  whole?: { fromMs: number; toMs: number };
}

interface Span extends BarRun {
  spanStart: SessionDate;
}

function spansOf(timeframe: Timeframe, { symbol, bars, whole }: BarRun): Span[] {
  const spans: Span[] = [];
  let start = 0;
  let span = '';
  let dayEndMs = -Infinity;
  for (let i = 0; i <= bars.tsMs.length; i++) {
    // Within a day there is nothing to ask: finding a date costs more than all the rest.
    if (i < bars.tsMs.length && bars.tsMs[i]! < dayEndMs) continue;
    const date = i < bars.tsMs.length ? exchangeDate(bars.tsMs[i]!) : null;
    dayEndMs = date === null ? Infinity : exchangeInstant(addDays(date, 1));
    const next = date === null ? '' : spanStart(timeframe, date);
    if (next === span) continue;
    if (i > start) spans.push({ symbol, spanStart: span, bars: sliceBars(bars, start, i), ...(whole && { whole }) });
    [start, span] = [i, next];
  }
  return spans;
}

/** What a run leaves of the bars stored before. */
function standing(bars: BarColumns, { whole }: Span): BarColumns {
  if (!whole) return bars;
  const [from, to] = [firstAtOrAfter(bars, whole.fromMs), firstAtOrAfter(bars, whole.toMs)];
  return concatBars([sliceBars(bars, 0, from), sliceBars(bars, to, bars.tsMs.length)]);
}

/** A block as it was written. */
export interface WrittenBlock {
  symbol: string;
  spanStart: SessionDate;
  /** All bars of the block, those that were there before included. */
  bars: BarColumns;
}

/** A block's bars as they are, and as they would be. */
export interface BarChange {
  symbol: string;
  before(): BarColumns;
  after: BarColumns;
}

/** Throws when blocks must not be changed so. */
export type BarGuard = (client: pg.ClientBase, changes: readonly BarChange[]) => Promise<void>;

/** Takes every block for a long writer (a whole file) until its transaction ends: it then needs no lock a block, of which there are too many. */
export async function lockAllBarBlocks(client: pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('bar_blocks', 0))`);
}

/** Keeps long writers of bars away until the transaction ends, for one that asks what they wrote before it writes. */
export async function holdBarBlocks(client: pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock_shared(hashtextextended('bar_blocks', 0))`);
}

async function lockBlocks(client: pg.ClientBase, keys: readonly unknown[]): Promise<void> {
  await holdBarBlocks(client);
  await client.query(
    `SELECT pg_advisory_xact_lock(hashtextextended('bars ' || $1 || ' ' || symbol || ' ' || span_start, 0))
     FROM unnest($2::text[], $3::text[]) AS wanted(symbol, span_start)`,
    [...keys],
  );
}

/**
 * Merges bars into their blocks, inside the caller's transaction; a bar already there is replaced when it differs. Returns
 * the blocks that changed. Writers of one block wait for each other; `locked` says that the caller has `lockAllBarBlocks`. `unless` is asked
 * before anything is written, and throws when it must not be.
 */
export async function writeBars(
  client: pg.ClientBase,
  timeframe: Timeframe,
  runs: readonly BarRun[],
  { locked = false, unless }: { locked?: boolean; unless?: BarGuard } = {},
): Promise<WrittenBlock[]> {
  // Locking in key order keeps two writers from waiting for each other in a circle.
  const spans = runs
    .flatMap((run) => spansOf(timeframe, run))
    .sort((a, b) => (a.symbol + a.spanStart < b.symbol + b.spanStart ? -1 : 1));
  if (spans.length === 0) return [];
  const keys = [timeframe, spans.map((span) => span.symbol), spans.map((span) => span.spanStart)];
  if (!locked) await lockBlocks(client, keys);
  const { rows } = await client.query<{ symbol: string; span_start: string; version: string; payload: Buffer }>(
    `SELECT b.symbol, b.span_start, b.version, b.payload FROM unnest($2::text[], $3::text[]) AS wanted(symbol, span_start)
     JOIN bar_blocks b ON b.symbol = wanted.symbol AND b.timeframe = $1 AND b.span_start = wanted.span_start`,
    keys,
  );
  const existing = new Map(rows.map((row) => [`${row.symbol} ${row.span_start}`, row]));
  const changed = spans.flatMap((span) => {
    const old = existing.get(`${span.symbol} ${span.spanStart}`);
    const bars = old ? mergeBars(standing(decodeBars(old.payload), span), span.bars) : span.bars;
    const payload = encodeBars(bars);
    const version = blockVersion(payload);
    return old?.version === version ? [] : [{ ...span, bars, payload: Buffer.from(payload), version }];
  });
  if (changed.length === 0) return [];
  await unless?.(
    client,
    changed.map((span) => {
      const old = existing.get(`${span.symbol} ${span.spanStart}`);
      return { symbol: span.symbol, before: () => (old ? decodeBars(old.payload) : barColumns(0)), after: span.bars };
    }),
  );
  await client.query(
    `INSERT INTO bar_blocks (symbol, timeframe, span_start, first_ts_ms, last_ts_ms, count, version, payload)
     SELECT symbol, $1, span_start, first_ts_ms, last_ts_ms, count, version, payload
     FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::int[], $7::text[], $8::bytea[])
       AS written(symbol, span_start, first_ts_ms, last_ts_ms, count, version, payload)
     ON CONFLICT (symbol, timeframe, span_start) DO UPDATE SET first_ts_ms = excluded.first_ts_ms, last_ts_ms = excluded.last_ts_ms,
       count = excluded.count, version = excluded.version, payload = excluded.payload`,
    [
      timeframe,
      changed.map((block) => block.symbol),
      changed.map((block) => block.spanStart),
      changed.map((block) => block.bars.tsMs[0]!),
      changed.map((block) => block.bars.tsMs.at(-1)!),
      changed.map((block) => block.bars.tsMs.length),
      changed.map((block) => block.version),
      changed.map((block) => block.payload),
    ],
  );
  return changed;
}
