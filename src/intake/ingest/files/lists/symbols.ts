import { wholeList } from '../../../../core/domain/generation.ts';
import { saveSymbols } from '../../../../store/market/symbols.ts';
import { readCsv } from '../../../tape/csv/csv.ts';
import { symbolList } from '../../../tape/csv/symbols.ts';
import { DisplacedLines } from '../displaced-lines.ts';
import type { Loader } from '../file-job.ts';

/** Loads the symbol list. Tickers that it does not contain are unchanged. */
export const loadSymbols: Loader = async (job) => {
  let rows = 0;
  let changed = 0;
  const read = new Map<string, string>();
  const displaced = new DisplacedLines('with the same ticker: the last counts');
  for await (const { records } of readCsv(job.path, [symbolList], job.onBadLine, job.onBytes)) {
    rows += records.length;
    for (const record of records) {
      const [before, text] = [read.get(record.symbol), JSON.stringify(record)];
      if (before !== undefined) displaced.add(before === text);
      read.set(record.symbol, text);
    }
    if (!job.refused()) changed += await saveSymbols(job.tx, records);
  }
  for (const note of displaced.notes()) job.onNote(note);
  return { rows, changed, parts: ['all'], written: changed > 0 ? [wholeList] : [] };
};
