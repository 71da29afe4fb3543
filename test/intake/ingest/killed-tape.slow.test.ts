import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { openCurrentStore } from '../../../src/store/current-store.ts';
import { start } from '../../cli/command-line.ts';
import { storeForThisTest, type TestStore } from '../../support/store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const startMs = exchangeInstant('2026-11-16', 600);
const folder = temporaryFolder();

const stockTape = [
  'ticker,conditions,exchange,id,price,sequence_number,sip_timestamp,size',
  ...Array.from({ length: 20 }, (_, i) => `SPY,,4,${i},600,${i},${startMs + i}000000,100`),
];
const optionTape = [
  'ticker,conditions,exchange,price,sip_timestamp,size',
  ...Array.from({ length: 20 }, (_, i) => `O:SPY261218C00600000,209,302,5,${startMs + i * 1000}000000,300`),
];
// Large enough for several threads.
const longTape = [
  'ticker,conditions,exchange,price,sip_timestamp,size',
  ...Array.from({ length: 24_000 }, (_, i) => `O:SPY261218C00600000,209,302,5,${startMs + i * 500}000000,300`),
];
// Each waits for a table it writes late, with most of its rows written before.
const cases = [
  [
    'stock-trades',
    stockTape,
    'off_exchange_concentration',
    ['bar_blocks', 'off_exchange_profile', 'off_exchange_sessions'],
  ],
  ['option-trades', optionTape, 'option_bar_blocks', ['flow_events', 'flow_legs', 'flow_coverage', 'cross_sections']],
] as const;

const tapes = [
  ...cases.map(([dataset, tape, late, tables]) => ({ name: dataset, dataset, tape, late, tables })),
  {
    name: 'option-trades of several threads',
    dataset: cases[1][0],
    tape: longTape,
    late: cases[1][2],
    tables: cases[1][3],
  },
];

const count = async (store: TestStore, from: string) =>
  Number((await store.pool.query(`SELECT count(*) FROM ${from}`)).rows[0].count);

function spawnIngest(store: TestStore, dataset: string, file: string): ChildProcess {
  const { child } = start(['ingest', dataset, file, '--threads', '2'], { DATABASE_URL: store.databaseUrl });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test.each(tapes)(
  '$name killed while it writes leave nothing, and the next ingest stores them',
  async ({ dataset, tape, late, tables }) => {
    const store = await storeForThisTest();
    const file = join(folder(), `${dataset}.csv`);
    writeFileSync(file, tape.join('\n'));
    // The first start of a store looks into every table.
    await (await openCurrentStore({ databaseUrl: store.databaseUrl, dataDir: '' })).close();
    const holder = await store.pool.connect();
    await holder.query(`BEGIN; LOCK TABLE ${late} IN ACCESS EXCLUSIVE MODE`);
    const child = spawnIngest(store, dataset, file);
    const waiting = `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%${late}%'`;
    for (let tries = 0; tries < 2000 && (await count(store, waiting)) === 0; tries++) await pause(10);
    expect(await count(store, waiting)).toBe(1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await holder.query('ROLLBACK');
    holder.release();
    for (const table of [...tables, late, `ingested_files WHERE dataset <> 'symbols'`])
      expect(await count(store, table), table).toBe(0);
    const { files } = await ingestFiles(store, dataset, [file], { now: () => startMs + 86_400_000 });
    expect(files[0]).toMatchObject({ status: 'stored', rows: tape.length - 1 });
    for (const table of tables) expect(await count(store, table), table).toBeGreaterThan(0);
  },
  120_000,
);
