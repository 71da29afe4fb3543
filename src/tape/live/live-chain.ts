import type { ChainCapture, ChainRow } from '../../domain/chain/chain.ts';
import { readOptionContract } from '../../domain/chain/option-contract.ts';
import { optionRoot } from '../../domain/chain/option-root.ts';
import { maxEpochMs } from '../../domain/units.ts';
import { assembleChain } from '../chains/chain-rows.ts';
import { BadField, contractOf, objectOf, optionalNumber, tickerOf, type Unread, whole } from './live-fields.ts';

function rowOf(value: unknown, path: string): ChainRow {
  const row = objectOf(value, path);
  const contract = contractOf(row, readOptionContract);
  const sharesPerContract = whole(row, 'shares_per_contract', 1_000_000, optionRoot(contract.root).multiplier);
  if (sharesPerContract === 0) throw new BadField('shares_per_contract', 'a whole number from 1', 0);
  return {
    ...contract,
    openInterest: optionalNumber(row, 'open_interest', 0),
    volume: optionalNumber(row, 'volume', 0),
    bid: optionalNumber(row, 'bid', 0),
    ask: optionalNumber(row, 'ask', 0),
    last: optionalNumber(row, 'last', 0),
    fmv: optionalNumber(row, 'fmv', 0),
    iv: optionalNumber(row, 'iv', 0),
    delta: optionalNumber(row, 'delta'),
    gamma: optionalNumber(row, 'gamma'),
    theta: optionalNumber(row, 'theta'),
    vega: optionalNumber(row, 'vega'),
    sharesPerContract,
  };
}

/**
 * The chain of a live line of type `chain`. Unlike the exchange's delayed-quote tables a 0 is a zero here, and null or
 * no key at all is unknown. Throws `BadField`, or `TapeFileError` for contracts of several underlyings or a contract
 * that is there twice.
 */
export function chainOfLine(line: Unread): ChainCapture {
  const underlying = tickerOf(line, 'underlying');
  if (!Array.isArray(line.rows)) throw new BadField('rows', 'a list', line.rows);
  const rows = line.rows.map((row, i) => {
    try {
      return rowOf(row, `rows[${i}]`);
    } catch (error) {
      // A row's own keys are named by their path in the line.
      if (error instanceof BadField && !error.message.startsWith('rows['))
        error.message = `rows[${i}].${error.message}`;
      throw error;
    }
  });
  const partial = line.partial ?? false;
  if (typeof partial !== 'boolean') throw new BadField('partial', 'true or false', partial);
  const chain = assembleChain('chain', rows, {
    capturedAt: whole(line, 'captured_at_ms', maxEpochMs),
    spot: optionalNumber(line, 'spot', 0),
    priorCloseSpot: optionalNumber(line, 'prior_close_spot', 0),
    partial,
  });
  if (chain.underlying !== underlying)
    throw new BadField('underlying', `${chain.underlying} as its contracts say`, underlying);
  return chain;
}
