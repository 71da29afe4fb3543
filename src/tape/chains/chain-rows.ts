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

/** Numbers of a delayed-quote line; NaN = the line does not say. */
export interface QuoteNumbers {
  last: number;
  bid: number;
  ask: number;
  volume: number;
  iv: number;
  delta: number;
  gamma: number;
  openInterest: number;
  theta: number;
  vega: number;
  fmv: number;
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value);
/** Contracts are counted: what is no count, or none that 32 bits hold, says nothing. */
const countOrNull = (value: number) => (Number.isInteger(value) && value >= 0 && value <= 2_147_483_647 ? value : null);

/**
 * A delayed-quote line as a chain row. The vendor writes 0 where it has nothing, so: a last price of 0 = never traded,
 * unknown; an ask of 0 = no offer, unknown, and a bid of 0 beside it no quote at all (a bid of 0 under an offer is a
 * bid of 0); an IV of 0 = not solved, unknown, and delta and gamma both 0 beside it were not computed either. Every
 * other 0 is a zero.
 */
export function chainRow(contract: OptionContract, numbers: QuoteNumbers): ChainRow {
  const { last, bid, ask, iv, delta, gamma } = numbers;
  const computed = iv > 0 || (delta !== 0 && !Number.isNaN(delta)) || (gamma !== 0 && !Number.isNaN(gamma));
  return {
    ...contract,
    openInterest: countOrNull(numbers.openInterest),
    volume: countOrNull(numbers.volume),
    bid: bid > 0 || ask > 0 ? orNull(bid) : null,
    ask: ask > 0 ? ask : null,
    last: last > 0 ? last : null,
    fmv: orNull(numbers.fmv),
    iv: iv > 0 ? iv : null,
    delta: computed ? orNull(delta) : null,
    gamma: computed ? orNull(gamma) : null,
    theta: computed ? orNull(numbers.theta) : null,
    vega: computed ? orNull(numbers.vega) : null,
    sharesPerContract: optionRoot(contract.root).multiplier,
  };
}

/** The contract of a cell, or null; padding and a leading `O:` are skipped. */
export function readContractCell(text: string): OptionContract | null {
  return readOptionContractText(text.trim());
}

/** What a chain file says beside its rows. */
export interface ChainHeader {
  capturedAt: number;
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
  return { underlying, capturedAt, sessionDate: sessionOf(capturedAt), spot, priorCloseSpot, partial, rows };
}

/** `last − change` in the decimals that either has, without the binary remainder of the subtraction. */
export function priorClose(last: number, change: number): number | null {
  const close = Number((last - change).toFixed(6));
  return close > 0 ? close : null;
}
