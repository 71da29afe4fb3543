import type { ChainCapture, ChainRow } from '../../../core/domain/chain/chain.ts';
import { longestDelayMs } from '../../../core/domain/chain/chain.ts';
import { sourceColumns } from '../../../core/domain/chain/chain-columns.ts';
import { readOptionContract } from '../../../core/domain/chain/option-contract.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { namesOf, rowBy, snakeCase } from '../../../core/domain/columns.ts';
import type { InstantBounds } from '../../../core/domain/instant-gate.ts';
import { assembleChain, contractRows } from '../chains/chain-rows.ts';
import {
  BadField,
  contractOf,
  instant,
  objectOf,
  optionalNumber,
  tickerOf,
  type Unread,
  whole,
} from './live-fields.ts';

const keys = rowBy(sourceColumns, snakeCase);
const contractRow = contractRows(namesOf(sourceColumns));

function rowOf(value: unknown, path: string): ChainRow {
  const row = objectOf(value, path);
  const contract = contractOf(row, readOptionContract);
  const isGiven = (row.shares_per_contract ?? null) !== null;
  const sharesPerContract = isGiven ? whole(row, 'shares_per_contract', 1_000_000) : undefined;
  if (sharesPerContract === 0) throw new BadField('shares_per_contract', 'a whole number from 1', 0);
  return contractRow(contract, (name) => optionalNumber(row, keys[name]) ?? Number.NaN, sharesPerContract);
}

/** Age of the quotes at the line's time, ms. Throws `BadField`. */
function delayOf(line: Unread): number {
  return (line.delay_ms ?? null) === null ? 0 : whole(line, 'delay_ms', longestDelayMs);
}

/**
 * The chain of a live line of type `chain`. Unlike in the exchange's delayed-quote tables, a 0 is a zero here, except
 * for an iv; null, an absent key, or a number outside its domain is unknown. Throws `BadField`, or `TapeFileError` for
 * contracts of several underlyings or a repeated contract.
 */
export function chainOfLine(line: Unread, bounds: InstantBounds, roots: OptionRoots): ChainCapture {
  const underlying = tickerOf(line, 'underlying');
  if (!Array.isArray(line.rows)) throw new BadField('rows', 'a list', line.rows);
  const rows = line.rows.map((row, i) => {
    try {
      return rowOf(row, `rows[${i}]`);
    } catch (error) {
      // Errors name a row's keys by their path in the line.
      if (error instanceof BadField && !error.message.startsWith('rows['))
        error.message = `rows[${i}].${error.message}`;
      throw error;
    }
  });
  const partial = line.partial ?? false;
  if (typeof partial !== 'boolean') throw new BadField('partial', 'true or false', partial);
  const header = {
    capturedAt: instant(line, 'captured_at_ms', bounds),
    delayMs: delayOf(line),
    spot: optionalNumber(line, 'spot'),
    priorCloseSpot: optionalNumber(line, 'prior_close_spot'),
    partial,
  };
  const chain = assembleChain('chain', rows, header, roots);
  if (chain.underlying !== underlying)
    throw new BadField('underlying', `${chain.underlying} as its contracts say`, underlying);
  return chain;
}
