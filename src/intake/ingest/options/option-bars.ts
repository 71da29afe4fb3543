import { tradeDate } from '../../../core/domain/calendar.ts';
import { contractId, type OptionContract, readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { type GenerationPart, sessionPart } from '../../../core/domain/generation.ts';
import { instantBounds } from '../../../core/domain/instant-gate.ts';
import type { BarColumns } from '../../../core/domain/market/bar.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import {
  lockOptionBars,
  type OptionBarChange,
  type OptionBarRun,
  saveOptionBars,
} from '../../../store/chain/option-bars.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { rejectSealed } from '../../../store/market/session-seals.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { optionMinuteBars } from '../../tape/chains/option-bars.ts';
import { slices } from '../files/bar-batch.ts';
import { type BarRuns, loadBarFile } from '../files/bar-file.ts';
import { barsToWrite, type Replaceable, replaceableBars } from '../files/bar-guard.ts';
import type { Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';
import { fileTally, keyedChanges, talliedResult } from '../files/session-tally.ts';

const runsAtOnce = 512;

const keyOf = (contract: OptionContract, tsMs: number) => `${tradeDate(tsMs)} ${contractId(contract)}`;

function runOf([key, bars]: [key: string, bars: BarColumns], known: OptionRoots): OptionBarRun & { root: string } {
  const [sessionDate, contract] = key.split(' ') as [SessionDate, string];
  const { root } = readOptionContract(contract)!;
  return { underlying: known.of(root, sessionDate).underlying, root, sessionDate, contract, bars };
}

/** State of writing a file's batches. */
interface OptionBarWriting {
  tx: Transaction;
  /** The sessions of the file. */
  sessions: Set<SessionDate>;
  mayWrite(change: OptionBarChange): boolean;
  /** The bars of a run that may replace those of another file. */
  pick(
    run: OptionBarRun,
    stored: BarColumns,
    replaceable: (symbol: string, session: SessionDate) => Replaceable,
  ): BarColumns;
  onChange(change: OptionBarChange): void;
}

async function writeRuns(read: BarRuns, { tx, sessions, mayWrite, pick, onChange }: OptionBarWriting) {
  const known = await readRoots(tx);
  let changed = 0;
  for (const slice of slices(read, runsAtOnce)) {
    const runs = slice.map((run) => runOf(run, known));
    for (const { sessionDate } of runs) sessions.add(sessionDate);
    await rejectSealed(
      tx,
      runs.map(({ underlying: symbol, sessionDate }) => ({ symbol, sessionDate })),
    );
    await saveUnderlyings(tx, new Set(runs.map((run) => run.root)), known);
    // A vendor's day file is the whole session's tape: it replaces data observed live.
    const replaceable = await replaceableBars(tx, 'option-minute-bars', {
      symbols: [...new Set(runs.map((run) => run.underlying))],
      sessions: [...new Set(runs.map((run) => run.sessionDate))],
    });
    const written = await saveOptionBars(tx, 'eod_reconciled', runs, mayWrite, (run, stored) =>
      pick(run, stored, replaceable),
    );
    for (const change of written) onChange(change);
    changed += written.length;
  }
  return changed;
}

/**
 * Loads minute aggregates of option contracts. A contract's bars of a live session are not replaced by fewer ones,
 * those of another file not by less.
 */
export const loadOptionMinuteBars: Loader = async (job) => {
  const { tx, name, settings } = job;
  await lockOptionBars(tx);
  const sessions = new Set<SessionDate>();
  const tally = fileTally(tx, 'option-minute-bars', 'bars', name);
  const ofKey = keyedChanges(tally);
  const written = new Map<string, GenerationPart>();
  const writing: OptionBarWriting = {
    tx,
    sessions,
    mayWrite({ run: { sessionDate, underlying: symbol }, before: stored, after: count }) {
      if (count >= stored || settings.replace) return true;
      tally.left(sessionDate, 'fewer', { symbol, count, stored, missing: stored - count });
      return false;
    },
    pick({ underlying: symbol, bars }, stored, replaceable) {
      return barsToWrite(
        stored,
        bars,
        (session) => (settings.replace ? 'everything' : replaceable(symbol, session)),
        ({ session, ...of }) => tally.left(session, 'fewer', { symbol, ...of }),
      );
    },
    onChange({ run: { sessionDate: session, underlying: symbol, contract: key }, ...of }) {
      written.set(`${session} ${symbol}`, sessionPart(symbol, session));
      ofKey({ session, symbol, key, ...of });
    },
  };
  const result = await loadBarFile(job, [optionMinuteBars(instantBounds(job.now()))], {
    length: 'minute',
    push: (batch, { contract, bar }) => batch.push(keyOf(contract, bar.tsMs), bar),
    write: (runs) => writeRuns(runs, writing),
  });
  return { ...(await talliedResult(result, tally)), parts: [...sessions], written: [...written.values()] };
};
