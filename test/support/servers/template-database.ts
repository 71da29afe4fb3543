import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../../src/store/rows/connection.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * The PostgreSQL of this run: a URL with the placeholder `{database}`, the prefix of this run's names, and options
     * of CREATE DATABASE for copies.
     */
    testServer: { url: string; run: string; copying: string };
  }
}

/** The URL of one database of the run's server. */
export const databaseUrl = (url: string, database: string) => url.replace('{database}', database);

/**
 * Makes a migrated database to copy each test file's from. Options of CREATE DATABASE: `making` are those of the
 * template, `copying` those of its copies. The returned function drops all databases of the run.
 */
export async function makeTemplate(
  project: TestProject,
  url: string,
  { making = '', copying = '' }: { making?: string; copying?: string } = {},
): Promise<() => Promise<void>> {
  const run = `tg_test_${randomBytes(5).toString('hex')}`;
  await onServer(url, `create database ${run}_template ${making}`);
  const store = await openStore({ databaseUrl: databaseUrl(url, `${run}_template`), dataDir: '', poolSize: 2 });
  await store.close();
  project.provide('testServer', { url, run, copying });
  return async () => {
    const names = await onServer(url, `select datname from pg_database where datname like '${run}%'`);
    for (const { datname } of names) await onServer(url, `drop database if exists ${datname} with (force)`);
  };
}

/** Runs one statement on the server, outside the tests' databases. */
export async function onServer(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl(url, 'postgres'), connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
