import { wholeList } from '../../../domain/generation.ts';
import { saveSymbols } from '../../../store/market/symbols.ts';
import { readCsv } from '../../../tape/csv/csv.ts';
import { symbolList } from '../../../tape/csv/symbols.ts';
import type { Loader } from '../file-job.ts';

/** Loads the symbol list. Tickers that it does not contain are unchanged. */
export const loadSymbols: Loader = async (job) => {
  let rows = 0;
  let changed = 0;
  for await (const { records } of readCsv(job.path, [symbolList], job.onBadLine, job.onBytes)) {
    rows += records.length;
    if (!job.refused()) changed += await saveSymbols(job.tx, records);
  }
  return { rows, changed, parts: ['all'], written: changed > 0 ? [wholeList] : [] };
};
