import { expect, test } from 'vitest';
import { retriedReads } from '../../../src/store/cluster/cluster.ts';
import type { Reader } from '../../../src/store/rows/reader.ts';

const failure = (code: string, message = 'failed') => Object.assign(new Error(message), { severity: 'ERROR', code });

/** A reader that fails with each of `errors` and then answers; `sent` counts what it was asked. */
function failing(errors: readonly Error[], isSpread = true) {
  const left = [...errors];
  const counts = { sent: 0 };
  const read = async () => {
    counts.sent++;
    const error = left.shift();
    if (error) throw error;
    return { rows: [{ found: true }] };
  };
  const prisma = { symbolEntry: { findMany: read } } as unknown as Reader['prisma'];
  const query = read as unknown as Reader['query'];
  return { counts, reader: retriedReads({ query, prisma }, () => isSpread) };
}

const movedShard = failure('42P01', 'relation "public.bar_blocks_102008" does not exist');

test.each([
  ['a shard was moved', movedShard],
  ['a shard was divided', failure('XX000', 'could not find valid entry for shard 102008')],
  ['it met a transaction', failure('40P01')],
  ['a node was lost', failure('08006')],
  ['a node was restarted', failure('XX000', 'server closed the connection unexpectedly')],
  ['a server ends', failure('57P01')],
])('a read of a distributed store is sent again when %s', async (_, error) => {
  const { reader, counts } = failing([error]);
  expect((await reader.query('SELECT')).rows).toEqual([{ found: true }]);
  expect(counts.sent).toBe(2);
});

test('so is a read by a model', async () => {
  const { reader, counts } = failing([movedShard]);
  const models = reader.prisma as unknown as { symbolEntry: { findMany(): Promise<unknown> } };
  expect(await models.symbolEntry.findMany()).toEqual({ rows: [{ found: true }] });
  expect(counts.sent).toBe(2);
});

test.each([
  ['its statement is wrong', failure('42P01', 'relation "bar_block" does not exist')],
  ['its time is up', failure('57014')],
  ['the connection broke', new Error('Connection terminated unexpectedly')],
])('a read is sent once when %s', async (_, error) => {
  const { reader, counts } = failing([error]);
  await expect(reader.query('SELECT')).rejects.toBe(error);
  expect(counts.sent).toBe(1);
});

test('a read that goes on failing is sent four times', async () => {
  const { reader, counts } = failing(Array(5).fill(movedShard));
  await expect(reader.query('SELECT')).rejects.toBe(movedShard);
  expect(counts.sent).toBe(4);
});

test('a read of a store on one node is sent once', async () => {
  const { reader, counts } = failing([movedShard], false);
  await expect(reader.query('SELECT')).rejects.toBe(movedShard);
  expect(counts.sent).toBe(1);
});
