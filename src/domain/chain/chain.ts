import type { SessionDate } from '../market-time.ts';
import type { OptionContract } from './option-contract.ts';

/** One contract's line of a chain capture. Null = the source did not say. Prices are dollars a share. */
export interface ChainRow extends OptionContract {
  openInterest: number | null;
  /** Contracts traded in the session so far. */
  volume: number | null;
  bid: number | null;
  ask: number | null;
  last: number | null;
  /** The source's fair or theoretical value. */
  fmv: number | null;
  /** Annualized fraction. */
  iv: number | null;
  delta: number | null;
  /** Change of delta per $1. */
  gamma: number | null;
  /** Dollars a day. */
  theta: number | null;
  /** Dollars per vol point (0.01 of iv). */
  vega: number | null;
  sharesPerContract: number;
}

/** An underlying's whole option chain at one point in time. */
export interface ChainCapture {
  underlying: string;
  capturedAt: number;
  /** The New York date of `capturedAt`, or the trading day before when that date does not trade. */
  sessionDate: SessionDate;
  /** The underlying's price in dollars. */
  spot: number | null;
  /** The underlying's close of the session before. */
  priorCloseSpot: number | null;
  /** True when the source gave only part of the chain, or some of its lines were broken and omitted. */
  partial: boolean;
  /** Ordered by expiry, strike, call before put, root. */
  rows: ChainRow[];
}

/** What one capture says of one contract. */
export interface ContractLine
  extends Pick<ChainRow, 'volume' | 'bid' | 'ask' | 'last' | 'iv' | 'delta' | 'gamma' | 'vega'>,
    Pick<ChainCapture, 'capturedAt' | 'sessionDate' | 'spot' | 'priorCloseSpot'> {}
