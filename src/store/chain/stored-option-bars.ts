import { type OptionContract, readOptionContract } from '../../core/domain/chain/option-contract.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';

/** A session of a contract with stored bars. */
export interface StoredOptionBars {
  sessionDate: SessionDate;
  contract: OptionContract;
}

/**
 * The contracts of an underlying with stored bars in the sessions from `from` to `to`, both included; by session, then
 * contract.
 */
export async function storedOptionBars(
  store: Store,
  underlying: string,
  from: SessionDate,
  to: SessionDate,
): Promise<StoredOptionBars[]> {
  const rows = await readFrom(store, 'chain', [underlying]).prisma.optionBarBlock.groupBy({
    by: ['sessionDate', 'contract'],
    where: { underlying, timeframe: '1m', sessionDate: { gte: from, lte: to } },
    orderBy: [{ sessionDate: 'asc' }, { contract: 'asc' }],
  });
  return rows.flatMap(({ sessionDate, contract }) => {
    const read = readOptionContract(contract);
    return read === null ? [] : [{ sessionDate, contract: read }];
  });
}
