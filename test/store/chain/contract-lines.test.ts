import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { OptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { chainCapturesAt } from '../../../src/store/chain/chain-captures.ts';
import { contractLines } from '../../../src/store/chain/contract-lines.ts';
import { chainCapture, chainRow, newYork, saveCaptures } from '../../support/option-market.ts';
import { statementsOf } from '../../support/statements.ts';
import { type TestStore, testStore } from '../../support/store.ts';

const day = '2026-11-18';
const expiries = ['2026-11-18', '2026-11-20', '2026-12-18'];
const moments = ['09:35', '09:40', '12:00', '15:55'].map((clock) => newYork(day, clock));
let store: TestStore;

/** Two roots, three expiries, 25 strikes, both rights, in the order of a capture. */
const rows = (step: number) =>
  expiries.flatMap((expiry, e) =>
    Array.from({ length: 25 }, (_, k) => 4_600_000 + 5000 * k).flatMap((strike, k) =>
      (['call', 'put'] as const).flatMap((right, r) =>
        ['SPX', 'SPXW'].map((root, i) =>
          chainRow({
            root,
            expiry,
            right,
            strike,
            volume: step,
            ...(k % 5 === 0 ? {} : { bid: e + k / 8 + r, ask: e + k / 7 + r, iv: i + 1 / (k + 1), vega: step / 3 }),
          }),
        ),
      ),
    ),
  );

beforeAll(async () => {
  store = await testStore();
  const chains = moments.map((atMs, step) =>
    chainCapture('SPX', atMs, rows(step), step === 1 ? { spot: null } : { spot: 4700 + step }),
  );
  await saveCaptures(store, { chains });
});
afterAll(() => store.close());

const listed = (contract: OptionContract | string, underlying = 'SPX') => ({
  underlying,
  contract: typeof contract === 'string' ? readOptionContract(contract)! : contract,
});
const all = { throughMs: moments[3]!, captures: 390 };
const id = 'O:SPXW261218C04605000';

test('every contract gets its row of every capture, as the whole chain has it', async () => {
  const chains = await chainCapturesAt(
    store,
    moments.map((atMs) => ({ underlying: 'SPX', atMs })),
  );
  const contracts = chains[0]!.rows.map(({ root, expiry, right, strike }) => ({ root, expiry, right, strike }));
  const lines = await contractLines(
    store,
    contracts.map((one) => listed(one)),
    all,
  );
  expect(lines.size).toBe(300);
  for (const [index, found] of [...lines.values()].entries()) {
    const rest = ({ volume, bid, ask, last, iv, delta, gamma, vega }: (typeof found)[number]) => [
      ...[volume, bid, ask, last, iv, delta, gamma, vega],
    ];
    expect(found.map(rest)).toEqual(chains.map((chain) => rest(chain!.rows[index] as never)));
    expect(found.map(({ capturedAt, sessionDate, spot }) => [capturedAt, sessionDate, spot])).toEqual(
      chains.map((chain) => [chain!.capturedAt, day, chain!.spot]),
    );
  }
});

test('none is later than asked, and no more captures are looked at than asked', async () => {
  const times = async (throughMs: number, captures: number) =>
    (await contractLines(store, [listed(id)], { throughMs, captures })).get(id)!.map((line) => line.capturedAt);
  expect(await times(moments[3]! - 1, 390)).toEqual(moments.slice(0, 3));
  expect(await times(moments[3]!, 2)).toEqual(moments.slice(2));
  expect(await times(moments[0]!, 1)).toEqual(moments.slice(0, 1));
});

test('a contract that is not listed has no lines; one whose underlying was never captured is absent', async () => {
  const near = ['O:SPXW261218C04602500', 'O:SPXW261219C04605000', 'O:SPXX261218C04605000', 'O:A261218C04605000'];
  const lines = await contractLines(
    store,
    [...near.map((one) => listed(one)), listed('O:NDX261218C04605000', 'NDX')],
    all,
  );
  expect([...lines]).toEqual(near.map((one) => [one, []]));
});

test('the captures of an expired contract are those up to the end of its date', async () => {
  const next = chainCapture('SPX', newYork('2026-11-19', '09:35'), rows(9));
  await saveCaptures(store, { chains: [next] });
  const expired = 'O:SPXW261118C04605000';
  const lines = await contractLines(store, [listed(expired), listed(id)], {
    throughMs: next.capturedAt,
    captures: 1,
  });
  expect(lines.get(expired)!.map((line) => line.capturedAt)).toEqual([moments[3]]);
  expect(lines.get(id)!.map((line) => line.capturedAt)).toEqual([next.capturedAt]);
});

/** A cache that keeps nothing. */
const noBlocks: TestStore['blocks'] = {
  get: () => undefined,
  set: () => undefined,
  stats: () => ({ hits: 0, misses: 0, bytes: 0, maxBytes: 0 }),
};

test('three statements however many contracts, one when all is known, and a capture that changed is read anew', async () => {
  const some = (count: number, from: number) =>
    rows(0)
      .slice(from, from + count)
      .map((row) => listed(row));
  const fresh = { ...store, blocks: noBlocks };
  for (const count of [1, 10, 200]) {
    expect(await statementsOf(() => contractLines(fresh, some(count, 0), all))).toHaveLength(3);
  }
  await contractLines(store, [listed(id)], all);
  expect(await statementsOf(() => contractLines(store, [listed(id)], all))).toHaveLength(1);
  const changed = rows(0).map((row) => ({ ...row, volume: 77 }));
  await saveCaptures(store, { chains: [chainCapture('SPX', moments[2]!, changed)] });
  const volumes = (await contractLines(store, [listed(id)], all)).get(id)!.map((line) => line.volume);
  expect(volumes).toEqual([0, 1, 77, 3]);
});

test('captures of before it was kept where their lines lie are read whole, and say the same', async () => {
  const some = rows(0).map((row) => listed(row));
  const cut = await contractLines({ ...store, blocks: noBlocks }, some, all);
  await store.pool.query('UPDATE chain_captures SET listing = NULL, layout = NULL');
  expect(await contractLines({ ...store, blocks: noBlocks }, some, all)).toEqual(cut);
});

test('a payload that cannot be read is an error, and the connection serves on', async () => {
  await saveCaptures(store, { chains: [chainCapture('XSP', moments[0]!, rows(0))] });
  await store.pool.query(
    `UPDATE chain_captures SET payload = substring(payload FROM 1 FOR 40) WHERE underlying = 'XSP'`,
  );
  for (let i = 0; i < 20; i++) {
    await expect(contractLines(store, [listed(id, 'XSP')], all)).rejects.toThrow('cut short');
  }
  expect((await contractLines(store, [listed(id)], all)).get(id)).toHaveLength(4);
});

test('a capture rewritten while it is read says nothing of the others of its listing', async () => {
  const known = 'O:SPXW261218P04605000';
  const times = async (ids: string[], asked: { throughMs: number; captures: number }) => {
    const contracts = ids.map((one) => listed(one, 'NDX'));
    const lines = await contractLines(store, contracts, asked);
    return ids.map((one) => lines.get(one)!.map(({ capturedAt }) => capturedAt));
  };
  const save = (captured: readonly number[], chain = rows(0).slice(8)) =>
    saveCaptures(store, { chains: captured.map((atMs) => chainCapture('NDX', atMs, chain)) });
  await save(moments);
  await times([known], { throughMs: moments[0]!, captures: 1 });
  const connect = store.pool.connect.bind(store.pool);
  // A read of a whole capture takes a connection of its own; other statements give a callback.
  const spy = vi.spyOn(store.pool, 'connect').mockImplementation((async (then?: never) => {
    if (then) return connect(then);
    spy.mockRestore();
    await save([moments[1]!], rows(0).slice(4));
    return connect();
  }) as never);
  const last = [moments.slice(1), moments.slice(1)];
  expect(await times([id, known], { ...all, captures: 3 })).toEqual(last);
  expect(await times([id, known], { ...all, captures: 3 })).toEqual(last);
});
