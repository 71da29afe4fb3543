import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/rows/connection.ts';
import { type StoreProcess, storeProcess } from '../support/servers/store-process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tapegraph-kill-'));
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Kills the server and every process of it, at once, as an end of the machine would. */
function killServer(dataDir: string): void {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Not started yet.
  }
}

type Victim = 'writer' | 'server' | 'both';

/** Kills a writer, its server, or both; the last number whose row was acknowledged, 0 if none was. */
async function kill(writer: StoreProcess, dataDir: string, victim: Victim): Promise<number> {
  if (victim !== 'server') writer.child.kill('SIGKILL');
  if (victim !== 'writer') killServer(dataDir);
  // A writer whose server dies fails at its next write, or is still waiting for a server that starts.
  if (victim === 'server') {
    await Promise.race([writer.end(), delay(1_000)]);
    writer.child.kill('SIGKILL');
  }
  await writer.end();
  return Number(writer.lines.findLast((line) => line.startsWith('wrote '))?.slice(6) ?? 0);
}

async function numbers(dataDir: string): Promise<{ first: number[]; second: number[] }> {
  const store = await openStore({ databaseUrl: null, dataDir });
  const read = async (letter: string) => {
    const { rows } = await store.pool.query('select value::int as n from store_facts where key like $1 order by n', [
      `${letter}%`,
    ]);
    return rows.map((row) => row.n as number);
  };
  const found = { first: await read('n'), second: await read('m') };
  await store.close();
  return found;
}

describe.skipIf(process.platform === 'win32')('a store killed with SIGKILL', { timeout: 180_000 }, () => {
  test('while it is being created, opens afterwards', async () => {
    for (let i = 0; i < 4; i++) {
      const writer = storeProcess(folder, 'write');
      await delay(Math.random() * 1_000);
      await kill(writer, folder, 'both');
    }
    const { first, second } = await numbers(folder);
    expect(second).toEqual(first);
  });

  test('during writes keeps every acknowledged write, and no half of a transaction', async () => {
    let acknowledged = 0;
    for (const victim of ['both', 'server', 'writer', 'both', 'server'] as const) {
      const writer = storeProcess(folder, 'write');
      await writer.until('wrote');
      await delay(Math.random() * 800);
      const last = await kill(writer, folder, victim);
      expect(last).toBeGreaterThan(acknowledged);
      acknowledged = last;
      const { first, second } = await numbers(folder);
      expect(second).toEqual(first);
      expect(first).toEqual(Array.from(first, (_, i) => i + 1));
      expect(first.length, `after killing ${victim}`).toBeGreaterThanOrEqual(acknowledged);
    }
    expect(acknowledged).toBeGreaterThan(20);
  });
});
