import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import { type Commits, commitOf } from '../../../src/store/versions/subjects.ts';
import { noteCommits, readCommits } from '../../../src/store/versions/symbol-commits.ts';
import { type TestStore, testStore } from '../../support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await testStore();
});
afterAll(() => store.close());

const unknown = (...symbols: string[]) => new Map(symbols.map((symbol) => [symbol, null]));
const read = (known: ReadonlyMap<string, Commits | null>) => readCommits(store.primary, known);
const note = (change: Parameters<typeof noteCommits>[1], id: string) =>
  inTransaction(store, (tx) => noteCommits(tx, change, id));

test('the commits of symbols are read where they are not the known ones', async () => {
  await note({ market: ['SPY', 'QQQ'], gex: ['SPY'] }, 'a.1');
  const known = await read(unknown('SPY', 'QQQ', 'IWM'));
  expect([...known.keys()]).toEqual(['SPY', 'QQQ', 'IWM']);
  expect(commitOf(known.get('SPY')!, 'gex')).toBe('a.1');
  expect(await read(known)).toEqual(new Map());
  await note({ market: ['QQQ', 'IWM'] }, 'a.2');
  const changed = await read(known);
  expect([...changed.keys()]).toEqual(['QQQ', 'IWM']);
  expect(commitOf(changed.get('IWM')!, 'market')).toBe('a.2');
});

test('a commit that may be of any symbol is one of all', async () => {
  const known = await read(unknown('SPY', 'DIA'));
  await note({ corporate: null }, 'a.3');
  const changed = await read(known);
  expect([...changed.keys()]).toEqual(['SPY', 'DIA']);
  for (const [symbol, commits] of changed) {
    expect(commitOf(commits, 'corporate')).not.toBe(commitOf(known.get(symbol)!, 'corporate'));
    expect(commitOf(commits, 'market')).toBe(commitOf(known.get(symbol)!, 'market'));
  }
  expect(await read(changed)).toEqual(new Map());
});

test('a known commit of which the database has none yet, as on a standby that lags, is not the same', async () => {
  const known = await read(unknown('SPY', 'TLT'));
  const { any, anyText } = known.get('TLT')!;
  const found = await read(known.set('TLT', { own: { market: 'a.4' }, any, anyText }));
  expect(commitOf(found.get('TLT')!, 'market')).toBe('');
});
