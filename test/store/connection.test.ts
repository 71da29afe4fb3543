import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/store/transaction.ts';
import { serverAnswers, serverStore, type TestStore, testStore } from '../support/store.ts';

const kinds = [
  { name: 'embedded', open: testStore, there: true },
  { name: 'PostgreSQL server', open: serverStore, there: await serverAnswers() },
];

describe.each(kinds)('a store on the $name', ({ open, there }) => {
  describe.runIf(there)('', () => {
    let store: TestStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());

    test('answers Prisma and raw SQL from the same tables', async () => {
      await store.prisma.storeFact.create({ data: { key: 'a', value: 'ü €' } });
      const { rows } = await store.pool.query('select value from store_facts where key = $1', ['a']);
      expect(rows).toEqual([{ value: 'ü €' }]);
    });

    test('prepares the statements of Prisma', async () => {
      await inTransaction(store, async () => undefined);
      await store.prisma.storeFact.findMany({ where: { key: 'a' } });
      const prepared = await store.pool.query(
        "select count(*) as n from pg_prepared_statements where statement like '%store_facts%'",
      );
      expect(prepared.rows[0].n).toBeGreaterThan(0);
    });
  });
});
