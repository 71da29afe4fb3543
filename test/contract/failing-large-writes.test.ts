import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../../src/store/rows/transaction.ts';
import { testApp } from '../support/app.ts';

const fullDisk = { status: 'degraded', reasons: ['The disk of the database is full: nothing can be written.'] };

test('a disk with room for small writes alone degrades health until a large one succeeds', async () => {
  const app = await testApp();
  onTestFinished(() => app.close());
  const { store } = app;
  const health = async () => (await app.get('/healthz', { credential: null })).body;
  const write = (length: number) => {
    const value = randomBytes(length / 2).toString('hex');
    const create = { key: 'large', value };
    return inTransaction(store, ({ prisma }) =>
      prisma.metadataEntry.upsert({ where: { key: 'large' }, create, update: { value } }),
    );
  };
  expect(await health()).toEqual({ status: 'ok' });
  await store.pool.query(
    `create function no_room() returns trigger language plpgsql as $$ begin
       if length(new.value) > 10000 then
         raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
       end if;
       return new;
     end $$`,
  );
  await store.pool.query(
    'create trigger no_room before insert or update on store_facts for each row execute function no_room()',
  );
  await expect(write(200_000)).rejects.toThrow();
  expect(await health()).toEqual(fullDisk);
  // A small write, and the probe of one, say nothing of large ones.
  await write(200);
  store.writes.wrote('transactions', null);
  expect(await health()).toEqual(fullDisk);
  // The age of a probe: the next look is another one.
  await delay(5100);
  await health();
  await expect.poll(health).toEqual(fullDisk);

  await store.pool.query('drop function no_room() cascade');
  await expect.poll(health, { timeout: 20_000 }).toEqual({ status: 'ok' });
}, 60_000);
