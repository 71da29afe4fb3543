import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { mediaTypes } from '../../src/rest/contract/media.ts';
import { tablePlacements } from '../../src/store/cluster/distribution.ts';
import type { Store } from '../../src/store/rows/connection.ts';
import { about, type KnownRoute } from '../contract/known-routes.ts';
import { madeRequests } from '../contract/requests.ts';
import type { Answer, TestApp } from '../support/app.ts';
import { modelColumns } from '../support/model-columns.ts';

/** The same thing at the embedded store, and at one distributed over a cluster. */
export interface Both<T> {
  single: T;
  spread: T;
}

// Ids and tickets are made by chance, and what is left of a minute's requests depends on when it began.
const generated = /[0-9A-HJKMNP-TV-Z]{26}|[\w-]{43,}|"remaining":\d+/g;
const shown = ({ status, bytes }: Answer) => `${status} ${bytes.toString('latin1').replace(generated, '…')}`;

/** Answers of both stores to one request. */
async function answersOf(
  { single, spread }: Both<TestApp>,
  ask: (app: TestApp) => Promise<Answer>,
): Promise<Both<string>> {
  const [one, other] = await Promise.all([single, spread].map(ask));
  return { single: shown(one!), spread: shown(other!) };
}

const media = Object.values(mediaTypes);

/** Asks a route of both for all that it is tried with, in each of its media types by turns. */
export async function expectSameAnswers(apps: Both<TestApp>, route: KnownRoute): Promise<void> {
  for (const [i, { path }] of madeRequests(route, 0).entries()) {
    // The others after every two of JSON.
    const accept = i % 3 === 2 ? media[Math.floor(i / 3) % media.length]! : mediaTypes.json;
    const { single, spread } = await answersOf(apps, (app) => app.get(path, { headers: { accept } }));
    expect(spread, `${path} as ${accept}`).toBe(single);
  }
}

/** Asks both for the operation of the graph that a route is, of several symbols one after the other. */
export async function expectSameGraph(
  apps: Both<TestApp>,
  { known }: KnownRoute,
  symbols: readonly string[],
): Promise<void> {
  for (const symbol of symbols) {
    const query = about(known.graphql, symbol);
    const { single, spread } = await answersOf(apps, async (app) => (await app.graphql(query)).answer);
    expect(spread, query).toBe(single);
  }
}

/** A table's rows in one order, long values by their hash; `leave`: columns that two stores may differ in. */
export async function rowsOf({ pool }: Store, table: string, leave: readonly string[] = []): Promise<string[]> {
  const chance = table === 'store_facts' ? ` WHERE key <> 'session_secret'` : '';
  const { rows } = await pool.query<Record<string, unknown>>(`SELECT ${modelColumns(table)} FROM ${table}${chance}`);
  const text = (value: unknown): unknown => {
    const long = Buffer.isBuffer(value) || (typeof value === 'string' && value.length > 100);
    return long ? createHash('sha256').update(value).digest('hex') : value;
  };
  return rows
    .map((row) =>
      Object.entries(row).flatMap(([column, value]) => (leave.includes(column) ? [] : [[column, text(value)]])),
    )
    .map((entries) => JSON.stringify(Object.fromEntries(entries)))
    .sort();
}

// The ids of commits.
const chosenByChance: Readonly<Record<string, readonly string[]>> = { symbol_commits: ['commits'] };

/** Compares every table; `leave` names columns by table that are omitted. Returns the number of rows by table. */
export async function expectSameRows(
  stores: Both<Store>,
  leave: Readonly<Record<string, readonly string[]>> = {},
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  // Runs are noted by the clock, and only those that took a while.
  for (const table of Object.keys(tablePlacements).filter((each) => each !== 'generation_runs')) {
    const [single, spread] = await Promise.all(
      [stores.single, stores.spread].map((each) => rowsOf(each, table, leave[table] ?? chosenByChance[table])),
    );
    expect(spread, table).toEqual(single);
    counts[table] = single!.length;
  }
  return counts;
}
