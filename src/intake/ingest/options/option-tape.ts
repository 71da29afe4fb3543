import { createHash } from 'node:crypto';
import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import type { OptionTapeCounts } from '../../../core/analytics/session/option-tape.ts';
import { optionsAreOver } from '../../../core/domain/calendar.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { instantBounds } from '../../../core/domain/instant-gate.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { unpricedMinutes } from '../../../store/chain/solved-minutes.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { readBytes } from '../../tape/csv/tape-file.ts';
import { FileMeters } from '../files/content-hash.ts';
import type { IngestSettings, TapeJob, TapeLoader } from '../files/file-job.ts';
import { unpackPrints } from '../files/packed-prints.ts';
import { hoursByPart, openTapeGuard, type TapeGuard, waitingPrints } from '../files/tape-guard.ts';
import { filesOfSession, tapeResults, unstored } from '../files/tape-results.ts';
import { type Solving, sessionSolver } from './option-session.ts';
import {
  lockOptionSessions,
  type OptionSessionWriter,
  optionSessionWriter,
  type SessionTapeInfo,
  statusOf,
} from './option-session-writer.ts';
import { type OptionTapeFiles, type OptionTapePart, readOptionTape, type SessionPlan } from './option-tape-files.ts';
import { quotesOfTape } from './quote-source.ts';

/**
 * Plan of the wanted sessions of a tape. A tape without quotes is not solved: its series would be based on trades only,
 * and live solves, based on quotes, are better.
 */
export async function sessionPlan(
  tx: Transaction,
  { quotes, parts }: OptionTapeFiles,
  { nowMs, solving, isWanted }: { nowMs: number; solving: Solving } & Pick<SessionPlan, 'isWanted'>,
): Promise<SessionPlan> {
  const solvers = new Map<SessionDate, Awaited<ReturnType<typeof sessionSolver>>>();
  if (quotes > 0)
    for (const date of new Set(
      parts.filter(({ session, symbol }) => isWanted(session, symbol)).map(({ session }) => session),
    ))
      solvers.set(date, await sessionSolver(tx, date, solving));
  return {
    isWanted,
    statusOf: (date) => statusOf(date, nowMs),
    solving(date, underlying) {
      const begin = solvers.get(date)?.(underlying) ?? null;
      return begin && (() => ({ greeks: begin(), nowMs }));
    },
  };
}

/** Notes on a session's tape. */
export function tapeNotes(date: SessionDate, counts: OptionTapeCounts, nowMs: number): string[] {
  const notes: [keyof OptionTapeCounts, string][] = [
    ['duplicates', 'duplicate prints count once'],
    ['cancels', 'cancels'],
    ['unmatchedCancels', 'cancels of prints that are not on the tape'],
    ['leftOut', 'compression trades and withdrawn records skipped'],
  ];
  const over = optionsAreOver(date, nowMs) ? [] : [`${date} is not over: its data is stored as not reconciled`];
  return [
    ...over,
    ...notes.filter(([name]) => counts[name] > 0).map(([name, what]) => `${date}: ${counts[name]} ${what}`),
  ];
}

/** Notes on prints that several files of a tape contain. */
export function repeatedNotes({ repeated }: Pick<OptionTapeFiles, 'repeated'>): string[] {
  return [...repeated].map(([date, count]) => `${date}: ${count} prints of one file are in another too and count once`);
}

/** Notes on the stored quotes that a tape's sides were inferred from; empty if files provided them, or nothing did. */
export function quoteNotes(quoteFiles: readonly string[], { quotes }: { readonly quotes: number }): string[] {
  return quoteFiles.length === 0 && quotes > 0 ? [`sides from ${quotes} stored quotes of its contracts`] : [];
}

/** Reads the files of a tape, and the prints that wait for its sessions. */
function readFiles(
  { files, tx, settings, onBadLine, refused }: TapeJob,
  roots: OptionRoots,
  { nowMs, meters }: { nowMs: number; meters: FileMeters },
) {
  const { quoteFiles, threads, replace } = settings;
  return readOptionTape({
    trades: files,
    async waiting(parts) {
      const rows = await waitingPrints(tx, 'option-trades', parts, replace);
      return rows.map(({ payload }) => unpackPrints(payload));
    },
    quotes: quotesOfTape(tx, quoteFiles),
    threads,
    roots,
    onBadLine,
    refused,
    bounds: instantBounds(nowMs),
    onBytes: () => files.at(-1)!.onBytes(0),
    onQuoteText: (path, text) => meters.add(path, text),
  });
}

/** Decides what is written, and stores waiting prints. Returns the underlyings' sessions to write. */
async function admitted(guard: TapeGuard, parts: readonly OptionTapePart[]): Promise<Set<string>> {
  const wanted = new Set<string>();
  for (const part of parts) {
    const { symbol, session, prints } = part;
    const sketch = () => part.sketch(guard.isExact(symbol, session));
    const may = await guard.mayWrite({ symbol, session, prints, others: () => part.contracts(), sketch });
    if (!may) continue;
    if (guard.isKept(symbol, session)) await guard.keep(part, part.packed());
    if (!guard.isBeside(symbol, session)) wanted.add(`${session} ${symbol}`);
  }
  return wanted;
}

/** Computes and writes the wanted sessions of a tape. Returns the changes of each. */
async function writeSessions(
  { tx, settings: { rate, solveMost }, now, onNote }: TapeJob,
  files: OptionTapeFiles,
  guard: TapeGuard,
  tapeInfo: SessionTapeInfo,
): Promise<Map<SessionDate, number>> {
  const wanted = await admitted(guard, files.parts);
  const plan = await sessionPlan(tx, files, {
    nowMs: tapeInfo.nowMs,
    solving: { rate, most: solveMost },
    isWanted: (date, underlying) => wanted.has(`${date} ${underlying}`),
  });
  const changed = new Map<SessionDate, number>();
  let writer: OptionSessionWriter | null = null;
  const finishDate = async () => {
    if (!writer) return;
    const totals = await writer.done();
    changed.set(writer.date, totals.changed);
    for (const note of tapeNotes(writer.date, totals.counts, now())) onNote(note);
  };
  try {
    for await (const made of files.make(plan)) {
      if (writer?.date !== made.date) {
        await finishDate();
        writer = optionSessionWriter(tx, made.date, tapeInfo);
      }
      await writer.add(made);
      // A session with only compression trades and withdrawn records has no result.
      if (made.observed === null) continue;
      await guard.wrote({ symbol: made.underlying, session: made.date, prints: made.prints }, made.sketch);
    }
    await finishDate();
    const written = { symbols: files.parts.map(({ symbol }) => symbol), sessions: [...changed.keys()] };
    for (const { underlying, session } of files.quotes > 0 ? await unpricedMinutes(tx, written) : [])
      onNote(
        `${underlying} of ${session} has no stored price, so its minutes have no volatilities; they are solved when a ` +
          'stock tape or minute bars of the session are stored',
      );
    return changed;
  } finally {
    await (writer as OptionSessionWriter | null)?.settle();
  }
}

/**
 * Loads option tapes, as one. Large trades, cross-sections, bars and end-of-day lists of an underlying's session
 * replace the stored ones, unless those contain prints that the tape lacks. Without quotes, given or stored, all sides
 * are unknown.
 */
export const loadOptionTrades: TapeLoader = async (job) => {
  const { tx, settings, now, onNote, refused } = job;
  let badLines = 0;
  const onBadLine: TapeJob['onBadLine'] = (bad) => {
    badLines++;
    job.onBadLine(bad);
  };
  const roots = await readRoots(tx);
  const meters = new FileMeters();
  const files = await readFiles({ ...job, onBadLine }, roots, { nowMs: now(), meters });
  try {
    const { filesHours, parts, joined } = files;
    if (refused()) return unstored(job, filesHours);
    await lockOptionSessions(tx);
    const nowMs = now();
    const guard = await openTapeGuard(tx, {
      dataset: 'option-trades',
      parts,
      filesOf: filesOfSession(job, filesHours),
      replace: settings.replace,
      keepDays: settings.keepDays,
      nowMs,
    });
    const isWhole = () => badLines === 0;
    const tapeInfo = { isWhole, hoursOf: hoursByPart(parts), nowMs, source: 'option_trades_file', roots };
    const changed = await writeSessions(job, files, guard, tapeInfo);
    if (joined > 0) onNote(`${joined} prints that waited for these sessions were joined`);
    for (const note of repeatedNotes(files)) onNote(note);
    for (const note of quoteNotes(settings.quoteFiles, files)) onNote(note);
    const beside = meters.sources();
    return tapeResults(job, filesHours, changed, await guard.done()).map((result) => ({ ...result, beside }));
  } finally {
    await files.close();
  }
};

/** Settings that change the figures of an option tape: the quotes beside it, and how contracts are solved. */
export async function optionTapeShape(
  { quoteFiles, rate, solveMost }: Pick<IngestSettings, 'quoteFiles' | 'rate' | 'solveMost'>,
  look: () => void,
): Promise<string> {
  const hash = createHash('sha256');
  for (const path of quoteFiles) for await (const bytes of readBytes(path, look)) hash.update(bytes);
  return `${methodologyVersion} ${hash.digest('base64url')} ${rate} ${solveMost}`;
}
