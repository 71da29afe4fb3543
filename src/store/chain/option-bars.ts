import { contractId } from '../../core/domain/chain/option-contract.ts';
import type { CoverageStatus } from '../../core/domain/flow/flow.ts';
import { type BarColumns, barColumns } from '../../core/domain/market/bar.ts';
import { aggregateBars } from '../../core/domain/market/bar-aggregation.ts';
import { exchangeInstant, type SessionDate } from '../../core/domain/market-time.ts';
import { minuteMs } from '../../platform/runtime/clock.ts';
import { concatBars, mergeBars, sliceBars } from '../market/bar-blocks.ts';
import { assertBars, type BarBlockKey, decodeBars, encodeBars } from '../market/bar-codec.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { copyEncoded, copyRows } from '../rows/copied-rows.ts';
import { lock } from '../rows/locks.ts';
import type { EncodedRows } from '../rows/models/encoded-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { deleteRows, findRows } from '../rows/models/sets.ts';
import { keepDeleted } from '../rows/models/superseded.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { blockVersion } from '../series/codec.ts';
import type { ListedContract } from './contract-lines.ts';

/** Locks all option bars for a long writer (a whole file) until its transaction ends. */
export async function lockOptionBars(tx: Transaction): Promise<void> {
  await lock(tx, 'option_bar_blocks');
}

const keyOf = (run: { sessionDate: string; contract: string }) => `${run.sessionDate} ${run.contract}`;

/**
 * The stored blocks of a contract's session: one, or, while it is observed live, one per part of the session, in order.
 */
interface StoredBlocks {
  status: CoverageStatus;
  /** Identifies their content. */
  version: string;
  blocks: BlockRow[];
}

type BlockRow = Pick<
  Row<'OptionBarBlock'>,
  'sessionDate' | 'contract' | 'timeframe' | 'status' | 'version' | 'part'
> & {
  payload: Buffer;
};
const blockFields = ['sessionDate', 'contract', 'timeframe', 'status', 'version', 'payload', 'part'] as const;
const blockKey = ['underlying', 'sessionDate', 'contract', 'timeframe'] as const;
const contractKey = ['underlying', 'sessionDate', 'contract'] as const;
/** The stored lengths from which bars are computed. Earlier releases stored five minutes beside the minutes. */
const storedLengths = { '1m': ['1m'], '5m': ['1m', '5m'], rest: ['rest'] } as const;

/** Rows by key, each in the order of its parts. Reconciled bars are complete: parts beside them are skipped. */
function blocksOf(rows: readonly BlockRow[]): Map<string, StoredBlocks> {
  const found = new Map<string, StoredBlocks>();
  for (const row of rows.toSorted((a, b) => a.part - b.part)) {
    const status = row.status as CoverageStatus;
    const known = found.get(keyOf(row));
    if (!known || (known.status !== status && status === 'eod_reconciled')) {
      found.set(keyOf(row), { status, version: row.version, blocks: [row] });
    } else if (known.status === status) {
      known.version += row.version;
      known.blocks.push(row);
    }
  }
  return found;
}

/** A block's bars of a length. Parts begin and end at multiples of five minutes. */
function decodeBlock({ payload, timeframe: stored, ...row }: BlockRow, timeframe: StoredOptionLength): BarColumns {
  const bars = decodeBars(payload, optionBlockKey(row, stored as StoredOptionLength, row.status as CoverageStatus));
  return stored === timeframe || timeframe === 'rest' ? bars : aggregateBars(bars, timeframe);
}

function decodeBlocks({ blocks, status }: StoredBlocks, timeframe: StoredOptionLength): BarColumns {
  const byPart = new Map(blocks.map((block) => [block.part, block]));
  for (const block of blocks) if (block.timeframe === timeframe) byPart.set(block.part, block);
  const bars = concatBars([...byPart.values()].map((block) => decodeBlock(block, timeframe)));
  if (byPart.size > 1) assertBars.onRead({ ...optionBlockKey(blocks[0]!, timeframe, status), bars });
  return bars;
}

/** A contract's session with written minutes: the numbers of its bars before and after. */
export interface OptionBarChange {
  run: OptionBarRun;
  before: number;
  after: number;
}

/**
 * Merges minutes into their blocks, inside the caller's transaction, which holds `lockOptionBars`; a stored bar is
 * replaced if it differs, and `pick` has it among those to write. Reconciled bars replace all bars of an observed
 * session, if `mayWrite` allows the change. Returns the changes.
 */
export async function saveOptionBars(
  tx: Transaction,
  status: CoverageStatus,
  runs: readonly OptionBarRun[],
  mayWrite: (change: OptionBarChange) => boolean = () => true,
  pick: (run: OptionBarRun, stored: BarColumns) => BarColumns = ({ bars }) => bars,
): Promise<OptionBarChange[]> {
  if (runs.length === 0) return [];
  const keys = runs.map((run) => ({ ...run, timeframe: '1m' }));
  const stored = blocksOf(await findRows(tx, 'OptionBarBlock', { by: blockKey, keys }, blockFields));
  const changed = runs.flatMap((run) => {
    const old = stored.get(keyOf(run));
    const before = old ? decodeBlocks(old, '1m') : barColumns(0);
    const bars = old?.status === status ? mergeBars(before, pick(run, before)) : run.bars;
    const version = blockVersion(encodeBars(bars, optionBlockKey(run, '1m', status)));
    if (old?.version === version && old.status === status) return [];
    const change = { run: { ...run, bars }, before: before.tsMs.length, after: bars.tsMs.length };
    return mayWrite(change) ? [change] : [];
  });
  if (changed.length === 0) return [];
  const written = changed.map(({ run }) => run);
  // The volume beside the bars of a tape stays unless other data takes its place.
  const merged = written.filter((run) => stored.get(keyOf(run))?.status === status);
  const lengths = merged.flatMap((run) => storedLengths['5m'].map((timeframe) => ({ ...run, timeframe })));
  await deleteRows(tx, 'OptionBarBlock', { by: blockKey, keys: lengths });
  await deleteRows(tx, 'OptionBarBlock', { by: contractKey, keys: written.filter((run) => !merged.includes(run)) });
  await copyRows(
    tx,
    'OptionBarBlock',
    written.map((run) => optionBarBlock(run, status)),
  );
  return changed;
}

/**
 * Replaces all bars of underlyings' sessions, in a transaction that holds `lockOptionBars`. Returns the number of
 * blocks.
 */
export async function replaceOptionBars(
  tx: Transaction,
  sessionDate: SessionDate,
  underlyings: readonly string[],
  blocks: readonly EncodedRows<'OptionBarBlock'>[],
): Promise<number> {
  const keys = underlyings.map((underlying) => ({ underlying, sessionDate }));
  await deleteRows(tx, 'OptionBarBlock', { by: ['underlying', 'sessionDate'], keys });
  return copyEncoded(tx, 'OptionBarBlock', blocks);
}

/** Minutes in a part of a live session, which bounds a commit's writes per contract. */
const partMs = 15 * minuteMs;

/** Start of the part of a session with an instant, epoch ms. */
export function partStart(tsMs: number): number {
  return tsMs - (tsMs % partMs);
}

/**
 * The number of the part with an instant: from 1 at midnight on, from −1 down before it. 0 is a block of a whole
 * session.
 */
function partOf(sessionDate: SessionDate, tsMs: number): number {
  const fromMidnight = (partStart(tsMs) - exchangeInstant(sessionDate)) / partMs;
  return fromMidnight < 0 ? fromMidnight : 1 + fromMidnight;
}

/** The bars of a run by part of the session. */
function* parts(run: OptionBarRun): Generator<BlockRun> {
  const { tsMs } = run.bars;
  for (let from = 0, to = 0; from < tsMs.length; from = to) {
    const startMs = partStart(tsMs[from]!);
    while (to < tsMs.length && tsMs[to]! < startMs + partMs) to++;
    yield { ...run, part: partOf(run.sessionDate, startMs), bars: sliceBars(run.bars, from, to) };
  }
}

const removing = statement(
  'chain/remove-option-bar-parts',
  { underlyings: 'text[]', sessionDates: 'text[]', contracts: 'text[]', parts: 'int4[]' },
  {},
);

/** The rows that `removing` removes. */
const fromPart = `t.underlying = w.underlying AND t.session_date = w.session_date AND t.contract = w.contract
  AND t.part >= w.part AND t.part <> 0`;

/** Minutes of a session observed live to write from the part with `fromMs` on, and the volume beside them. */
export interface LiveOptionBarRun extends OptionBarRun {
  fromMs: number;
  rest: BarColumns;
}

/**
 * Writes minutes of a session observed live, in a transaction that holds `lockOptionBars`: they replace what is stored
 * from the start of the part that contains `fromMs` (`partStart`), so they must include all minutes from there on.
 * Earlier parts are unchanged. Reconciled bars take precedence over live ones.
 */
export async function saveLiveOptionBars(tx: Transaction, runs: readonly LiveOptionBarRun[]): Promise<void> {
  tx.changes.addRows('OptionBarBlock', runs);
  const keys = runs.map((run) => ({ ...run, part: partOf(run.sessionDate, run.fromMs) }));
  await keepDeleted(tx, 'OptionBarBlock', { by: [...contractKey, 'part'], keys, where: fromPart });
  await removing.count(tx, {
    underlyings: runs.map((run) => run.underlying),
    sessionDates: runs.map((run) => run.sessionDate),
    contracts: runs.map((run) => run.contract),
    parts: keys.map(({ part }) => part),
  });
  const blocks = runs.flatMap(({ fromMs: _, rest, ...run }) => [
    ...Array.from(parts(run), (part) => optionBarBlock(part, 'observed_live')),
    ...Array.from(parts({ ...run, bars: rest }), (part) =>
      optionBarBlock(part, 'observed_live', { timeframe: 'rest' }),
    ),
  ]);
  await copyRows(tx, 'OptionBarBlock', blocks);
}

const cacheKey = (contract: string, sessionDate: SessionDate, timeframe: StoredOptionLength, version: string) =>
  `option-bars:${contract}:${sessionDate}:${timeframe}:${version}`;

/** A contract's bars of a session, ascending. Shared with other readers: do not change them. */
export interface StoredOptionBars {
  bars: BarColumns;
  /** Origin of the bars; null if none are stored. */
  status: CoverageStatus | null;
}

/**
 * The bars of several contracts in one session, in one statement, by path form (`O:…`); a contract without any is
 * absent. Five minutes are computed from the minutes.
 */
export async function readOptionBarsOf(
  store: Store,
  contracts: readonly ListedContract[],
  sessionDate: SessionDate,
  timeframe: OptionTimeframe,
): Promise<Map<string, StoredOptionBars>> {
  const read = await readOptionBarsIn(store, contracts, [sessionDate], timeframe);
  return new Map(Array.from(read, ([key, bars]) => [key.slice(sessionDate.length + 1), bars]));
}

/**
 * The bars of several contracts in several sessions, in one statement, by `session contract`; `rest`: the volume beside
 * them.
 */
export async function readOptionBarsIn(
  store: Store,
  contracts: readonly ListedContract[],
  sessions: readonly SessionDate[],
  timeframe: StoredOptionLength,
): Promise<Map<string, StoredOptionBars>> {
  const keys = contracts.flatMap(({ underlying, contract }) =>
    sessions.flatMap((sessionDate) =>
      storedLengths[timeframe].map((stored) => ({
        underlying,
        contract: contractId(contract),
        sessionDate,
        timeframe: stored,
      })),
    ),
  );
  const from = readFrom(store, 'chain', new Set(keys.map(({ underlying }) => underlying)));
  const rows = await findRows(from, 'OptionBarBlock', { by: blockKey, keys }, blockFields);
  const read = new Map<string, StoredOptionBars>();
  for (const [key, blocks] of blocksOf(rows)) {
    const [sessionDate, contract] = key.split(' ') as [SessionDate, string];
    const cached = cacheKey(contract, sessionDate, timeframe, blocks.version);
    let bars = store.blocks.get<BarColumns>(cached);
    if (!bars) {
      bars = decodeBlocks(blocks, timeframe);
      store.blocks.set(cached, bars, bars.tsMs.length * 64);
    }
    read.set(key, { bars, status: blocks.status });
  }
  return read;
}

/** `readOptionBarsOf` for one contract; empty if none are stored. */
export async function readOptionBars(
  store: Store,
  listed: ListedContract,
  sessionDate: SessionDate,
  timeframe: OptionTimeframe,
): Promise<StoredOptionBars> {
  const read = await readOptionBarsOf(store, [listed], sessionDate, timeframe);
  return read.get(contractId(listed.contract)) ?? { bars: barColumns(0), status: null };
}

/** Bar lengths served for option contracts. Minutes are stored; five minutes are computed from them when read. */
export type OptionTimeframe = '1m' | '5m';

/**
 * Lengths of stored blocks. `rest`: the volume by minute of prints that form no bar, which only sums of a session's
 * volume read.
 */
type StoredOptionLength = OptionTimeframe | 'rest';

/** The minutes of one contract in one session to write. */
export interface OptionBarRun {
  underlying: string;
  sessionDate: SessionDate;
  /** Contract path form: `O:` and the OSI symbol. */
  contract: string;
  /** Ascending by tsMs, without duplicates. */
  bars: BarColumns;
}

/** A block to write: all minutes of a session (part 0), or those of a part of it. */
interface BlockRun extends OptionBarRun {
  part: number;
}

/** A stored block. */
type OptionBarBlock = Row<'OptionBarBlock'>;

/** The key of a contract's block. What is observed live is made of prints; other bars may be a vendor's. */
export function optionBlockKey(
  { contract, sessionDate }: Pick<OptionBarRun, 'contract' | 'sessionDate'>,
  timeframe: StoredOptionLength,
  status: CoverageStatus,
): BarBlockKey {
  return { of: contract, timeframe, spanStart: sessionDate, ofPrints: status === 'observed_live' };
}

/** Options of encoding a block. */
interface OptionBlockOptions {
  timeframe?: '1m' | 'rest';
  /** True if the bars are made of prints, also of a session that is not observed live. */
  ofPrints?: boolean;
}

/** Encodes the minutes of one contract in one session, all of them unless `part` says otherwise. */
export function optionBarBlock(
  { bars, ...run }: Omit<BlockRun, 'part'> & { part?: number },
  status: CoverageStatus,
  { timeframe = '1m', ofPrints }: OptionBlockOptions = {},
): OptionBarBlock {
  const key = optionBlockKey(run, timeframe, status);
  const payload = encodeBars(bars, ofPrints ? { ...key, ofPrints } : key);
  const count = bars.tsMs.length;
  return { part: 0, ...run, timeframe, status, count, version: blockVersion(payload), payload };
}
