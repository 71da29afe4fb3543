import type { CoverageStatus } from '../../core/domain/flow/coverage.ts';
import type { BarColumns } from '../../core/domain/market/bar.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { type BarBlockKey, encodeBars } from '../market/bar-codec.ts';
import type { Row } from '../rows/models/row-values.ts';
import { blockVersion } from '../series/block-version.ts';

/** Bar lengths served for option contracts. Minutes are stored; five minutes are computed from them when read. */
export type OptionTimeframe = '1m' | '5m';

/**
 * Lengths of stored blocks. `rest`: the volume by minute of prints that form no bar, which only sums of a session's
 * volume read.
 */
export type StoredOptionLength = OptionTimeframe | 'rest';

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
export interface BlockRun extends OptionBarRun {
  part: number;
}

/** A stored block. */
export type OptionBarBlock = Row<'OptionBarBlock'>;

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
