import { expect, test } from 'vitest';
import type { ChainRow } from '../../../src/core/domain/chain/chain.ts';
import { contractId, readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { addDays, exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { storeChain } from '../../../src/intake/ingest/chains/chain.ts';
import { solveWithMinutes } from '../../../src/intake/ingest/chains/write-chain.ts';
import { chainCapturesAt } from '../../../src/store/chain/chain-captures.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { saveSolves } from '../../support/greeks.ts';
import { modelColumns } from '../../support/model-columns.ts';
import { chainCapture, chainRow } from '../../support/option-market.ts';
import { storeForThisTest } from '../../support/store.ts';
import { worth } from '../../support/tapes/quoted-tape.ts';

const session = '2026-11-16';
const at = (minute: number, date = session) => exchangeInstant(date, minute);
const [near, far] = ['O:SPXW261218C06000000', 'O:SPXW261218C06500000'];

/** A chain of four contracts near the money and one far from it, with what is said of that. */
function chainAt(tsMs: number, ofFar: Partial<ChainRow>) {
  const ids = [near, 'O:SPXW261218P06000000', 'O:SPXW261218C06050000', 'O:SPXW261218P06050000', far];
  const rows = ids.map((id) => {
    const contract = readOptionContract(id)!;
    const fair = worth(contract, 6000, tsMs);
    const quote = { bid: fair - 0.05, ask: fair + 0.05, openInterest: 100 };
    return chainRow({ ...contract, ...(id === far ? { openInterest: 100, ...ofFar } : quote) });
  });
  return chainCapture('SPX', tsMs, rows, { spot: 6000, priorCloseSpot: 6000 });
}

test('where a chain’s quotes tell no volatility, the session’s last solve does: of a minute, else of the chains before; then the source’s greeks', async () => {
  const store = await storeForThisTest();
  const write = (tsMs: number, ofFar: Partial<ChainRow>) =>
    inTransaction(store, (tx) => storeChain(tx, chainAt(tsMs, ofFar), { gammaSource: 'solve', rate: 0.045 }));
  const stored = async (tsMs: number) => {
    const [chain] = await chainCapturesAt(store, [{ underlying: 'SPX', atMs: tsMs }]);
    expect(chain!.capturedAt).toBe(tsMs);
    const { solved, iv, gamma } = chain!.rows.find((row) => contractId(row) === far)!;
    return { ...solved!, source: { iv, gamma } };
  };
  const quoted = { bid: 2.95, ask: 3.05 };
  const none = { bid: null, ask: null };

  await write(at(600), quoted);
  const { iv, gamma } = await stored(at(600));
  expect(iv).toBeGreaterThan(0.1);
  // From chain to chain, as long as nothing newer is known.
  await write(at(605), none);
  const { gex } = await write(at(610), none);
  expect((await stored(at(610))).iv).toBe(iv);
  expect((await stored(at(610))).gamma).toBeCloseTo(gamma!, 5);
  expect(gex).toMatchObject({ oiCoverage: 1, gammaAbsent: 0 });
  // A solved minute is newer; one after the chain is not known yet.
  const solve = { delta: 0.01, gamma: 0.001, mark: 3, markSource: 'mid', bid: 2.9, ask: 3.1 } as const;
  await inTransaction(store, (tx) =>
    saveSolves(tx, 'SPX', {
      [far]: [
        { ...solve, tsMs: at(612), iv: 0.31 },
        { ...solve, tsMs: at(616), iv: 0.32 },
      ],
    }),
  );
  await write(at(615), none);
  expect((await stored(at(615))).iv).toBe(0.31);
  // A solve of the session comes before what the source says now, which is served beside it.
  await inTransaction(store, (tx) => tx.query('DELETE FROM greeks_minutes'));
  await write(at(620), { ...none, iv: 0.5, delta: 0.02, gamma: 0.0007 });
  expect(await stored(at(620))).toMatchObject({ iv: 0.31, origin: 'previous', source: { iv: 0.5, gamma: 0.0007 } });
  // Another session begins again, with the source's greeks where it gives them. What is the source's is no solve.
  const next = addDays(session, 1);
  await write(at(600, next), none);
  expect(await stored(at(600, next))).toMatchObject({ iv: null, gamma: null, origin: 'absent' });
  await write(at(605, next), { ...none, iv: 0.5, delta: 0.02, gamma: 0.0007 });
  expect(await stored(at(605, next))).toMatchObject({ iv: 0.5, gamma: 0.0007, origin: 'source' });
  await write(at(610, next), none);
  expect(await stored(at(610, next))).toMatchObject({ iv: null, origin: 'absent' });
});

test('minute solves that arrive after the chains of their session fill the gaps that they would have filled before', async () => {
  const solve = { delta: 0.01, gamma: 0.001, mark: 3, markSource: 'mid', bid: 2.9, ask: 3.1 } as const;
  const solves = { [far]: [at(603), at(608)].map((tsMs, i) => ({ ...solve, tsMs, iv: 0.31 + i / 100 })) };
  const none = { bid: null, ask: null };
  const published = async (order: readonly ('chains' | 'minutes')[]) => {
    const store = await storeForThisTest();
    for (const what of order)
      await inTransaction(store, async (tx) => {
        if (what === 'minutes') {
          await saveSolves(tx, 'SPX', solves);
          await solveWithMinutes(tx, { underlying: 'SPX', sessionDate: session, fromMs: at(603) }, 0.045);
        } else {
          for (const minute of [600, 605, 610, 615])
            await storeChain(tx, chainAt(at(minute), none), { gammaSource: 'solve', rate: 0.045 });
        }
      });
    const chains = await store.pool.query(
      `SELECT ${modelColumns('chain_captures')} FROM chain_captures ORDER BY captured_at`,
    );
    const gex = await store.pool.query(`SELECT ${modelColumns('gex_captures')} FROM gex_captures ORDER BY captured_at`);
    return [chains.rows, gex.rows];
  };
  const expected = await published(['minutes', 'chains']);
  // Nothing was solved before the first chain: too few of its contracts have a gamma.
  expect(expected.map((rows) => rows.length)).toEqual([4, 3]);
  expect(expected[1]!.map((row) => row.gamma_absent)).toEqual([0, 0, 0]);
  expect(await published(['chains', 'minutes'])).toEqual(expected);
  expect(await published(['chains'])).not.toEqual(expected);
});
