import type { SessionDate } from '../domain/market-time.ts';
import { type OptionContract, readOptionContract } from '../domain/option-contract.ts';
import { readFrom, type Store } from './connection.ts';

/** A session of a contract of which bars are stored. */
export interface StoredOptionBars {
  sessionDate: SessionDate;
  contract: OptionContract;
}

/** Of which contracts of an underlying bars are stored in the sessions from `from` to `to`, both included; by session, then contract. */
export async function storedOptionBars(
  store: Store,
  underlying: string,
  timeframe: '1m' | '5m',
  from: SessionDate,
  to: SessionDate,
): Promise<StoredOptionBars[]> {
  const { rows } = await readFrom(store).query<{ sessionDate: SessionDate; contract: string }>(
    `SELECT DISTINCT session_date AS "sessionDate", contract FROM option_bar_blocks
     WHERE underlying = $1 AND timeframe = $2 AND session_date BETWEEN $3 AND $4 ORDER BY session_date, contract`,
    [underlying, timeframe, from, to],
  );
  return rows.flatMap(({ sessionDate, contract }) => {
    const read = readOptionContract(contract);
    return read === null ? [] : [{ sessionDate, contract: read }];
  });
}
