import type { BarColumns } from '../../domain/bar.ts';
import { contractId, type OptionContract, readOptionContract } from '../../domain/chain/option-contract.ts';
import { underlyingOf } from '../../domain/chain/option-root.ts';
import { instantBounds } from '../../domain/instant-gate.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import type { OptionBarRun } from '../../store/chain/option-bar-block.ts';
import { lockOptionBars, saveOptionBars } from '../../store/chain/option-bars.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import { rejectSealed } from '../../store/market/session-seals.ts';
import { optionMinuteBars } from '../../tape/chains/option-bars.ts';
import { type BarBatch, slices } from '../files/bar-batch.ts';
import { loadBarFile } from '../files/bar-file.ts';
import type { Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';

const runsAtOnce = 512;

const keyOf = (contract: OptionContract, tsMs: number) => `${exchangeDate(tsMs)} ${contractId(contract)}`;

function runOf([key, bars]: [key: string, bars: BarColumns]): OptionBarRun & { root: string } {
  const [sessionDate, contract] = key.split(' ') as [SessionDate, string];
  const { root } = readOptionContract(contract)!;
  return { underlying: underlyingOf(root), root, sessionDate, contract, bars };
}

async function writeBatch(tx: Transaction, batch: BarBatch, sessions: Set<SessionDate>): Promise<number> {
  let changed = 0;
  for (const slice of slices(batch.runs(), runsAtOnce)) {
    const runs = slice.map(runOf);
    for (const { sessionDate } of runs) sessions.add(sessionDate);
    await rejectSealed(
      tx,
      runs.map(({ underlying: symbol, sessionDate }) => ({ symbol, sessionDate })),
    );
    await saveUnderlyings(tx, new Set(runs.map((run) => run.root)));
    // A vendor's day file is the whole session's tape: what was observed live gives way to it.
    changed += await saveOptionBars(tx, 'eod_reconciled', runs);
  }
  return changed;
}

/** Minute aggregates of option contracts. */
export const loadOptionMinuteBars: Loader = async (job) => {
  await lockOptionBars(job.tx);
  const sessions = new Set<SessionDate>();
  const result = await loadBarFile(
    job,
    optionMinuteBars(instantBounds(job.now())),
    (batch, { contract, bar }) => batch.push(keyOf(contract, bar.tsMs), bar),
    (batch) => writeBatch(job.tx, batch, sessions),
  );
  return { ...result, parts: [...sessions] };
};
