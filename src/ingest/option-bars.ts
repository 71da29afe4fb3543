import { aggregateBars } from '../analytics/bars.ts';
import type { Bar } from '../domain/bar.ts';
import { exchangeDate, type SessionDate } from '../domain/market-time.ts';
import { contractId, type OptionContract } from '../domain/option-contract.ts';
import { underlyingOf } from '../domain/option-root.ts';
import { lockOptionBars, saveOptionBars } from '../store/option-bars.ts';
import type { Transaction } from '../store/transaction.ts';
import { readCsv } from '../tape/csv.ts';
import { optionMinuteBars } from '../tape/option-bars.ts';
import type { Loader } from './file-job.ts';
import { saveUnderlyings } from './option-underlyings.ts';
import { orderedBars } from './stock-bars.ts';
import { writeBehind } from './write-behind.ts';

const batchBars = 100_000;

interface HeldBars {
  contract: OptionContract;
  sessionDate: SessionDate;
  bars: Bar[];
}

async function writeBatch(tx: Transaction, batch: readonly HeldBars[]): Promise<number> {
  await saveUnderlyings(tx, new Set(batch.map(({ contract }) => contract.root)));
  const runs = batch.map(({ contract, sessionDate, bars }) => ({
    underlying: underlyingOf(contract.root),
    sessionDate,
    contract: contractId(contract),
    bars: orderedBars(bars),
  }));
  // A vendor's day file is the whole session's tape: what was observed live gives way to it.
  const minutes = await saveOptionBars(tx, '1m', 'eod_reconciled', runs);
  const fives = minutes.map((run) => ({ ...run, bars: aggregateBars(run.bars, '5m') }));
  return minutes.length + (await saveOptionBars(tx, '5m', 'eod_reconciled', fives)).length;
}

/** Minute aggregates of option contracts: 1m blocks, and the 5m blocks that follow from them. */
export const loadOptionMinuteBars: Loader = async (job) => {
  await lockOptionBars(job.tx);
  const writes = writeBehind();
  let batch = new Map<string, HeldBars>();
  let held = 0;
  let rows = 0;
  let changed = 0;
  const flush = async () => {
    if (held === 0 || job.refused()) return;
    const full = [...batch.values()];
    batch = new Map();
    held = 0;
    await writes.next(async () => {
      changed += await writeBatch(job.tx, full);
    });
  };
  for await (const { records } of readCsv(job.path, optionMinuteBars, job.onBadLine, job.onBytes)) {
    if (job.refused()) continue;
    for (const { contract, bar } of records) {
      const sessionDate = exchangeDate(bar.tsMs);
      const key = `${sessionDate} ${contractId(contract)}`;
      const run = batch.get(key);
      if (run) run.bars.push(bar);
      else batch.set(key, { contract, sessionDate, bars: [bar] });
    }
    held += records.length;
    rows += records.length;
    if (held >= batchBars) await flush();
  }
  await flush();
  await writes.done();
  return { rows, changed };
};
