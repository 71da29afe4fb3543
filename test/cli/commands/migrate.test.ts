import { expect, it } from 'vitest';
import { dataFolder } from '../../support/data-folder.ts';
import { storeForThisTest } from '../../support/store.ts';
import { tapegraph, tapegraphProcess } from '../command-line.ts';

it('migrate sets up the embedded store in the data folder, and has nothing to do the second time', async () => {
  const data = dataFolder();
  const first = await tapegraphProcess(['migrate', '--json', '--data', data]);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(first.stdout).applied).toEqual(expect.arrayContaining([expect.stringMatching(/_init$/)]));
  expect(JSON.parse((await tapegraph(['migrate', '--json', '--data', data])).stdout)).toEqual({ applied: [] });
});

it('migrate refuses a store that is newer, in one line and with 1', async () => {
  const store = await storeForThisTest();
  await store.pool.query(
    `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('x', 'x', '29990101000000_later', now())`,
  );
  const { code, stdout, stderr } = await tapegraph(['migrate'], { DATABASE_URL: store.databaseUrl });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^tapegraph: The store is newer than this version .*29990101000000_later.*\n$/);
});

it('says in one line that the database is out of reach, without its password', async () => {
  const { code, stderr } = await tapegraphProcess(['migrate'], {
    DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/market',
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^tapegraph: .*DATABASE_URL.*ECONNREFUSED.*\n$/);
  expect(stderr).not.toContain('hunter2');
});
