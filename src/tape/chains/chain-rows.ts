import { sessionOf } from '../../domain/calendar.ts';
import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import {
  compareContracts,
  type OptionContract,
  osiSymbol,
  readOptionContractText,
} from '../../domain/chain/option-contract.ts';
import { optionRoot } from '../../domain/chain/option-root.ts';
import { TapeFileError } from '../csv/tape-file.ts';
import { type QuoteNumbers, withinDomain } from './vendor-domain.ts';

const aboveZero = (value: number | null) => (value !== null && value > 0 ? value : null);
const orNull = (value: number) => (Number.isNaN(value) ? null : value);

/** Shares per contract by the root's name alone; null = its deliverable was adjusted, in a way that no name says. */
export function standardShares(root: string): number | null {
  const { adjusted, multiplier } = optionRoot(root);
  return adjusted ? null : multiplier;
}

/** A contract's row of numbers within their domain, whose zeros are zeros. */
export function contractRow(
  contract: OptionContract,
  numbers: QuoteNumbers,
  sharesPerContract = standardShares(contract.root),
): ChainRow {
  const known = withinDomain(numbers);
  return {
    ...contract,
    openInterest: orNull(known.openInterest),
    volume: orNull(known.volume),
    bid: orNull(known.bid),
    ask: orNull(known.ask),
    last: orNull(known.last),
    fmv: orNull(known.fmv),
    iv: orNull(known.iv),
    delta: orNull(known.delta),
    gamma: orNull(known.gamma),
    theta: orNull(known.theta),
    vega: orNull(known.vega),
    sharesPerContract,
  };
}

/**
 * A delayed-quote line as a chain row. The vendor writes 0 where it has nothing, so: a last price of 0 = never traded,
 * unknown; an ask of 0 = no offer, unknown, and a bid of 0 beside it no quote at all (a bid of 0 under an offer is a
 * bid of 0); an IV of 0 = not solved, unknown, and delta and gamma both 0 beside it were not computed either. Every
 * other 0 is a zero.
 */
export function chainRow(contract: OptionContract, numbers: QuoteNumbers): ChainRow {
  const row = contractRow(contract, numbers);
  if (row.last === 0) row.last = null;
  if (row.ask === 0) row.ask = null;
  if (row.ask === null && row.bid === 0) row.bid = null;
  if (row.iv === null && !row.delta && !row.gamma) {
    row.delta = null;
    row.gamma = null;
    row.theta = null;
    row.vega = null;
  }
  return row;
}

/** The contract of a cell, or null; padding and a leading `O:` are skipped. */
export function readContractCell(text: string): OptionContract | null {
  return readOptionContractText(text.trim());
}

/** What a chain file says beside its rows. */
export interface ChainHeader {
  capturedAt: number;
  /** Dollars; what is not above 0 is unknown, as in `priorCloseSpot`. */
  spot: number | null;
  priorCloseSpot: number | null;
  partial: boolean;
}

/**
 * A capture of these rows: the underlying is what all roots belong to. Throws `TapeFileError` when they belong to
 * several, or there are none.
 */
export function assembleChain(
  path: string,
  rows: ChainRow[],
  { capturedAt, spot, priorCloseSpot, partial }: ChainHeader,
): ChainCapture {
  const underlyings = new Set([...new Set(rows.map((row) => row.root))].map((root) => optionRoot(root).underlying));
  const [underlying] = underlyings;
  if (underlying === undefined) throw new TapeFileError(path, 'the chain has no contracts');
  if (underlyings.size > 1)
    throw new TapeFileError(path, `the chain has contracts of several underlyings: ${[...underlyings].join(', ')}`);
  rows.sort(compareContracts);
  const twice = rows.find((row, i) => i > 0 && compareContracts(rows[i - 1]!, row) === 0);
  if (twice) throw new TapeFileError(path, `the chain has the contract ${osiSymbol(twice)} twice`);
  return {
    underlying,
    capturedAt,
    sessionDate: sessionOf(capturedAt),
    spot: aboveZero(spot),
    priorCloseSpot: aboveZero(priorCloseSpot),
    partial,
    rows,
  };
}

/** `last − change` in the decimals that either has, without the binary remainder of the subtraction. */
export function priorClose(last: number, change: number): number | null {
  const close = Number((last - change).toFixed(6));
  return close > 0 ? close : null;
}
