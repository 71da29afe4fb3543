// A kill between any two messages to the database, while prints that wait are written, joined or removed: the next
// ingest of the same file comes to what an undisturbed one comes to.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { usualKeepDays } from '../../../src/intake/ingest/files/file-job.ts';
import { ensureStarterRegistry } from '../../../src/intake/ingest/files/lists/starter-registry.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { dayMs } from '../../../src/platform/runtime/clock.ts';
import { openCurrentStore } from '../../../src/store/current-store.ts';
import { start } from '../../cli/command-line.ts';
import { randomOf } from '../../support/random.ts';
import { proxiedDatabase } from '../../support/servers/proxied-database.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { contentsOf } from '../../support/store-contents.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [monday, tuesday, wednesday] = ['2024-11-18', '2024-11-19', '2024-11-20'];
const folder = temporaryFolder();
/** Kills of a step at messages that the seed picks, beside those at its commit. */
const randomKills = 2;

type Dataset = 'option-trades' | 'stock-trades';
type Print = [date: string, minute: number, id: number];

const formats = {
  'option-trades': {
    header: 'ticker,conditions,correction,exchange,price,sip_timestamp,size',
    line: (ms: number, id: number) => `O:SPY241220C00600000,209,0,302,5,${ms}000000,${id}`,
  },
  'stock-trades': {
    header: 'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id',
    line: (ms: number, id: number) => `SPY,,4,${id},600,${id},${ms}000000,100,2,202`,
  },
};

const day = (date: string, from: number): Print[] =>
  [...Array.from({ length: 13 }, (_, i) => 570 + 30 * i), 959].map((minute, i) => [date, minute, from + i]);
// Prints of Tuesday's session in Monday's file.
const evening: Print[] = [1, 2, 3].map((n) => [monday, 1230 + n, 900 + n]);

/** The steps: prints wait; they are joined with a tape that has one of them too; they are too old, and removed. */
const steps: { does: string; prints: Print[]; ageDays: number; tapes: object; waiting: number }[] = [
  { does: 'written', prints: [...day(monday, 1), ...evening], ageDays: 0, tapes: { [monday]: 14 }, waiting: 3 },
  {
    does: 'joined',
    prints: [evening[1]!, ...day(tuesday, 100)],
    ageDays: 0,
    tapes: { [monday]: 14, [tuesday]: 17 },
    waiting: 3,
  },
  {
    does: 'removed',
    prints: day(wednesday, 200),
    ageDays: usualKeepDays + 1,
    tapes: { [monday]: 14, [tuesday]: 17, [wednesday]: 14 },
    waiting: 0,
  },
];

function fileOf(dataset: Dataset, prints: readonly Print[], name: string): string {
  const { header, line } = formats[dataset];
  const path = join(folder(), `${dataset}-${name}.csv`);
  const lines = prints.map(([date, minute, id]) => line(exchangeInstant(date, minute), id));
  writeFileSync(path, [header, ...lines].join('\n'));
  return path;
}

/** All that is stored, without the times of the clock at which it was. */
const contents = (store: TestStore) =>
  contentsOf(store, {
    columns: {
      ingested_files: ['ingested_at'],
      tape_remainders: ['kept_at_ms'],
      off_exchange_sessions: ['as_of_ms'],
      ranked_sessions: ['scanned_at_ms'],
    },
  });

async function prepared(): Promise<TestStore> {
  const store = await storeForThisTest();
  // The first start of a store looks into every table.
  await (await openCurrentStore({ databaseUrl: store.databaseUrl, dataDir: '' })).close();
  await ensureStarterRegistry(store, Date.now);
  return store;
}

const age = (store: TestStore, days: number) =>
  store.pool.query('UPDATE tape_remainders SET kept_at_ms = kept_at_ms - $1', [days * dayMs]);

/** Point at which an ingest is killed: after a number of messages of the transaction that stores its file. */
interface Kill {
  messages: number;
  /** True if the message at which it is killed still comes to the database. */
  isSent: boolean;
}

const commits = (message: string) => message.includes('commit\0');

/**
 * Runs the command to its end, or to a kill, and waits until the database has ended its work. Gives the number of
 * messages from the first that asks what is stored of the tape to the commit.
 */
async function ingestInProcess(store: TestStore, dataset: Dataset, file: string, kill: Kill | null): Promise<number> {
  let [messages, isCommitted] = [0, false];
  const { url } = await proxiedDatabase(store.databaseUrl, (data) => {
    const text = data.toString('latin1');
    if (isCommitted || (messages === 0 && !text.includes('tape_sessions'))) return true;
    messages++;
    isCommitted = commits(text);
    if (kill === null || (messages < kill.messages && !isCommitted)) return true;
    isCommitted = true;
    child.kill('SIGKILL');
    return kill.isSent;
  });
  const { child } = start(['ingest', dataset, file, '--threads', '1'], { DATABASE_URL: url });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [code, signal] = await once(child, 'exit');
  expect(kill === null ? code : signal).toBe(kill === null ? 0 : 'SIGKILL');
  const working = `SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`;
  for (let tries = 0; tries < 1000; tries++) {
    if ((await store.pool.query(working)).rows[0].count === 0) return messages;
    await pause(10);
  }
  throw new Error('the database still works for a process that was killed');
}

/** Kills at some of a transaction's messages, and at its commit: before it is sent, and as it is. */
function killsOf(messages: number, seed: number): Kill[] {
  const random = randomOf(seed);
  expect(messages).toBeGreaterThan(5);
  const some = Array.from({ length: randomKills }, () => ({
    messages: 1 + random.below(messages - 1),
    isSent: random.once(2),
  }));
  const atCommit = [false, true].map((isSent) => ({ messages: Number.POSITIVE_INFINITY, isSent }));
  return [...some, ...atCommit];
}

async function tapesOf(store: TestStore) {
  const tapes = await store.pool.query('SELECT session_date AS date, prints FROM tape_sessions');
  const waiting = await store.pool.query('SELECT coalesce(sum(prints), 0)::int AS prints FROM tape_remainders');
  return {
    tapes: Object.fromEntries(tapes.rows.map(({ date, prints }) => [date, prints])),
    waiting: waiting.rows[0].prints,
  };
}

test.each(['stock-trades', 'option-trades'] as const)(
  'prints of %s that wait are neither lost nor counted twice by a kill while they are written, joined or removed',
  async (dataset) => {
    const [undisturbed, killed] = [await prepared(), await prepared()];
    for (const [i, { does, prints, ageDays, ...expected }] of steps.entries()) {
      const file = fileOf(dataset, prints, does);
      for (const store of [undisturbed, killed]) await age(store, ageDays);
      const before = await contents(killed);
      const messages = await ingestInProcess(undisturbed, dataset, file, null);
      const after = await contents(undisturbed);
      expect(await tapesOf(undisturbed), does).toEqual(expected);
      const ends = new Set<string>();
      for (const kill of killsOf(messages, 20_241_118 + i)) {
        await ingestInProcess(killed, dataset, file, kill);
        const found = await contents(killed);
        const isBefore = JSON.stringify(found) === JSON.stringify(before);
        if (!isBefore) expect(found, `${does}, ${JSON.stringify(kill)}`).toEqual(after);
        ends.add(isBefore ? 'before' : 'after');
        if (!isBefore) break;
      }
      expect(ends).toContain('before');
      const [again] = (await ingestFiles(killed, dataset, [file], { now: Date.now })).files;
      expect(again!.status, again!.reason ?? '').toBe(ends.has('after') ? 'unchanged' : 'stored');
      expect(await contents(killed), does).toEqual(after);
    }
  },
  600_000,
);
