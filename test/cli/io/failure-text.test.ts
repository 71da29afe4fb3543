import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { failureText } from '../../../src/cli/io/command-result.ts';
import { openPrisma } from '../../../src/store/rows/models/prisma.ts';

test('a database that cannot be reached is named without lines about the call', async () => {
  const pool = new pg.Pool({ host: '/nowhere', user: 'nobody' });
  const { models, close } = openPrisma(pool, 'public');
  onTestFinished(close);
  const error = await models.metadataEntry.findMany().catch((failure: unknown) => failure);
  // Prisma's own message begins so.
  expect((error as Error).message.trim()).toMatch(/^Invalid `/);
  expect(failureText(error)).toBe('connect ENOENT /nowhere/.s.PGSQL.5432');
});

test('an error without a message is named by its code, and one of several by theirs', () => {
  const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
  expect(failureText(refused)).toBe('ECONNREFUSED');
  expect(failureText(new AggregateError([refused, new Error('no route')]))).toBe('ECONNREFUSED; no route');
});
