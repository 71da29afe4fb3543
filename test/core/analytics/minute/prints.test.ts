import { expect, test } from 'vitest';
import { MinutePrints } from '../../../../src/core/analytics/minute/tape.ts';
import { createContractBook } from '../../../../src/core/domain/chain/contract-book.ts';
import { print } from '../../../support/tapes/option-tape.ts';

test('a contract’s last trade is known however many contracts were quoted before any traded', () => {
  const book = createContractBook();
  const ids = Array.from({ length: 2000 }, (_, i) => `O:SPY240419C${String(100_000 + 500 * i).padStart(8, '0')}`);
  const contracts = ids.map((id) => book.find(id)!);
  const [first, last] = [contracts[0]!, contracts.at(-1)!];
  const trades = [print(0, 1, 1.5, 301, { contract: first }), print(1, 1, 2.5, 301, { contract: last })];
  const prints = new MinutePrints();
  for (const trade of trades) prints.add(trade);
  const traded: string[] = [];
  prints.pass(trades[1]!.tsMs + 1, ({ id }) => traded.push(id));
  expect(traded).toEqual([first.id, last.id]);
  expect(prints.last(first)).toEqual({ price: 1.5, tsMs: trades[0]!.tsMs });
  expect(prints.last(last)).toEqual({ price: 2.5, tsMs: trades[1]!.tsMs });
});
