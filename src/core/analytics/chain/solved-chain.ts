import { type ChainCapture, type ChainRow, unknownNumbers } from '../../domain/chain/chain.ts';
import type { GreeksSolve } from '../../domain/chain/greeks.ts';
import { compareContracts, contractId, readOptionContract } from '../../domain/chain/option-contract.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import type { Mark } from '../pricing/mark.ts';

/** The solves of an underlying's contracts at a minute's boundary. */
export interface SolvedContracts {
  underlying: string;
  sessionDate: SessionDate;
  tsMs: number;
  /** Dollars; null when unknown. */
  spot: number | null;
  /** By contract path form. */
  solves: ReadonlyMap<string, GreeksSolve>;
}

/** A chain updated to a minute, with the marks of the rows solved then. */
export interface MinuteChain {
  chain: ChainCapture;
  marks: ReadonlyMap<ChainRow, Mark>;
}

/**
 * A chain as of a later minute: contracts with a volatility in the minute's solve are as solved, the others as
 * captured, if that was in the minute's session. `null` = there is no chain.
 */
export function minuteChain(captured: ChainCapture | null, minute: SolvedContracts): MinuteChain {
  const base = captured?.sessionDate === minute.sessionDate ? captured : null;
  const marks = new Map<ChainRow, Mark>();
  const left = new Map([...minute.solves].filter(([, { iv }]) => iv !== null));
  const rowOf = (row: ChainRow, { bid, ask, iv, delta, gamma, mark, markSource }: GreeksSolve): ChainRow => {
    const greeks = { iv, delta, gamma, theta: null, vega: null };
    const solved: ChainRow = { ...row, bid, ask, ...greeks, solved: { ...greeks, origin: 'outOfTheMoney' } };
    marks.set(solved, { price: mark, source: markSource });
    return solved;
  };
  const rows = (base?.rows ?? []).map((row) => {
    const id = contractId(row);
    const solve = left.get(id);
    left.delete(id);
    return solve ? rowOf(row, solve) : row;
  });
  for (const [id, solve] of left)
    rows.push(rowOf({ ...unknownNumbers, sharesPerContract: 100, ...readOptionContract(id)! }, solve));
  const chain: ChainCapture = {
    underlying: minute.underlying,
    capturedAt: minute.tsMs,
    sessionDate: minute.sessionDate,
    spot: minute.spot ?? base?.spot ?? null,
    priorCloseSpot: captured?.priorCloseSpot ?? null,
    partial: base === null || base.partial,
    rows: left.size > 0 ? rows.sort(compareContracts) : rows,
  };
  return { chain, marks };
}
