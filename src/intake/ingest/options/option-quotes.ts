import { createContractBook, type TradedContract } from '../../../core/domain/chain/contract-book.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { sessionPart } from '../../../core/domain/generation.ts';
import { instantBounds } from '../../../core/domain/instant-gate.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { lockOptionQuotes, type QuotePart, quotePart, saveQuoteParts } from '../../../store/chain/option-quotes.ts';
import { underlyingsOfFlow } from '../../../store/flow/sessions.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { rejectSealed } from '../../../store/market/session-seals.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { closedDayCounter } from '../../tape/prints/closed-days.ts';
import { readOptionQuotes } from '../../tape/prints/option-quotes.ts';
import { DisplacedLines } from '../files/displaced-lines.ts';
import type { FileJob, Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import { RecordSorter } from '../files/record-sorter.ts';
import { fileTally, talliedResult } from '../files/session-tally.ts';
import { quoteGuard } from './quote-guard.ts';
import { quoteAt, quoteOrder, quoteRuns } from './quote-runs.ts';

// Number of parts per statement.
const partsAtOnce = 512;
const bytesAtOnce = 8 * 1024 * 1024;
const namedUnderlyings = 5;

async function pushQuotes(
  sorter: RecordSorter,
  { path, now, onBadLine, onBytes, refused }: FileJob,
  contracts: TradedContract[],
  roots: OptionRoots,
): Promise<void> {
  const book = createContractBook(roots);
  const bounds = instantBounds(now());
  const record = new Float64Array(quoteOrder.width);
  const days = closedDayCounter('quotes');
  for await (const batch of readOptionQuotes(path, { book, bounds, onBadLine, onBytes })) {
    if (refused()) continue;
    for (const { contract, tsMs, tsNanos, sequence, bid, ask } of batch) {
      days.add(tsMs);
      contracts[contract.index] = contract;
      record[quoteAt.contract] = contract.index;
      record[quoteAt.tsMs] = tsMs;
      record[quoteAt.tsNanos] = tsNanos;
      record[quoteAt.sequence] = sequence;
      record[quoteAt.bid] = bid;
      record[quoteAt.ask] = ask;
      const full = sorter.push(record);
      if (full) await full;
    }
  }
  days.check(path);
}

/** Writes the permitted parts in batches, and sums up the results. */
function partWriter(tx: Transaction, allowed: (parts: readonly QuotePart[]) => Promise<QuotePart[]>) {
  const tally = { changed: 0, quotes: 0, bytes: 0 };
  /** Underlyings with changes, by session. */
  const touched = new Map<SessionDate, Set<string>>();
  const sessions = new Set<SessionDate>();
  let held: QuotePart[] = [];
  let bytes = 0;
  const flush = async () => {
    if (held.length === 0) return;
    const changed = await saveQuoteParts(tx, await allowed(held));
    await rejectSealed(
      tx,
      changed.map(({ underlying: symbol, sessionDate }) => ({ symbol, sessionDate })),
    );
    for (const { sessionDate, underlying } of changed) {
      const underlyings = touched.get(sessionDate) ?? new Set();
      touched.set(sessionDate, underlyings.add(underlying));
    }
    tally.changed += changed.length;
    held = [];
    bytes = 0;
  };
  return {
    tally,
    touched,
    sessions,
    flush,
    async add(part: QuotePart) {
      held.push(part);
      sessions.add(part.sessionDate);
      bytes += part.payload.length;
      tally.quotes += part.count;
      tally.bytes += part.payload.length;
      // A contract's session is written or left as a whole.
      if (part.last && (held.length >= partsAtOnce || bytes >= bytesAtOnce)) await flush();
    },
  };
}

/**
 * Notes tapes that were read before their quotes were stored: their prints are not stored, so their sides are unchanged
 * until the tapes are ingested again.
 */
async function readBefore(tx: Transaction, touched: ReadonlyMap<SessionDate, ReadonlySet<string>>): Promise<string[]> {
  const notes: string[] = [];
  for (const [session, underlyings] of [...touched].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const stored = await underlyingsOfFlow(tx, session, [...underlyings]);
    if (stored.length === 0) continue;
    const named = stored.slice(0, namedUnderlyings).join(', ');
    const more = stored.length > namedUnderlyings ? ` and ${stored.length - namedUnderlyings} more` : '';
    notes.push(
      `${session}: the tape of ${named}${more} was read before these quotes: ingest it again to get its sides`,
    );
  }
  return notes;
}

/**
 * Loads option quotes: a file is assumed to contain all quotes, in its minutes, of every contract in it. They are
 * joined with stored quotes of other minutes; otherwise they replace the stored ones, unless these are more. Tapes that
 * are read later infer sides from them.
 */
export const loadOptionQuotes: Loader = async (job) => {
  const { tx, name, settings, onNote, onBytes, refused } = job;
  const sorter = new RecordSorter(quoteOrder);
  const contracts: TradedContract[] = [];
  try {
    const roots = await readRoots(tx);
    await pushQuotes(sorter, job, contracts, roots);
    const rows = sorter.size;
    if (refused() || rows === 0) return { rows, changed: 0 };
    // A contract with only bad lines has an empty slot.
    const found = contracts.filter(() => true);
    await lockOptionQuotes(tx);
    await saveUnderlyings(tx, new Set(found.map(({ contract }) => contract.root)), roots);
    const tally = fileTally(tx, 'option-quotes', 'quotes', name);
    let isJoined = false;
    const onJoin = () => {
      isJoined = true;
    };
    const displaced = new DisplacedLines('of the same contract and nanosecond: the last is in force');
    const onDisplaced = (isEqual: boolean) => displaced.add(isEqual);
    const writer = partWriter(tx, quoteGuard(tx, tally, settings.replace, onJoin));
    for await (const { contract, quotes, ...run } of quoteRuns(sorter.sorted(), onDisplaced)) {
      // Polled so that a stop is noticed.
      onBytes(0);
      const { id, underlying } = contracts[contract]!;
      await writer.add(quotePart({ ...run, contract: id, underlying: underlying.symbol }, quotes));
    }
    await writer.flush();
    const { quotes, bytes, changed } = writer.tally;
    const result = await talliedResult({ rows, changed }, tally);
    // If nothing of the file was stored, the note would be wrong.
    if (!result.unwritten)
      onNote(`${quotes} quotes of ${found.length} contracts, ${(bytes / quotes).toFixed(1)} bytes each as stored`);
    for (const note of [...displaced.notes(), ...(await readBefore(tx, writer.touched))]) onNote(note);
    const written = Array.from(writer.touched, ([session, symbols]) =>
      Array.from(symbols, (symbol) => sessionPart(symbol, session)),
    ).flat();
    return { ...result, isJoined, parts: [...writer.sessions], written };
  } finally {
    await sorter.close();
  }
};
