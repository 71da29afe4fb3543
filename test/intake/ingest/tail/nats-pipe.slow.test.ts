import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { follow } from '../../../../src/intake/ingest/tail/follow.ts';
import { surrounding } from '../../../cli/command-line.ts';
import { natsClient } from '../../../support/servers/nats-client.ts';
import { hasNatsServer, natsServer } from '../../../support/servers/nats-server.ts';
import type { TestStore } from '../../../support/store.ts';
import { lines, marketForThisTest, options, stored, unnumbered } from './followed-tape.ts';

const program = (path: string) => `"${process.execPath}" "${fileURLToPath(new URL(path, import.meta.url))}"`;
const few = lines.slice(0, 900).map((each) => each.trim());

/** A shell's pipe from a subscription into a follower, as a group of processes of its own. */
class Pipe {
  readonly shell: ChildProcess;
  readonly ended: Promise<unknown>;
  log = '';

  constructor(subscription: string, follower: string, { databaseUrl }: TestStore) {
    const command = `${program('../../../support/servers/nats-sub.ts')} ${subscription} | ${program('../../../../src/main.ts')} ${follower}`;
    const env = { ...surrounding, DATABASE_URL: databaseUrl };
    this.shell = spawn('sh', ['-c', command], { detached: true, env });
    this.shell.stderr!.on('data', (chunk) => {
      this.log += chunk;
    });
    this.ended = new Promise((resolve) => this.shell.once('close', resolve));
    onTestFinished(() => this.signal('SIGKILL'));
  }

  async subscribed(): Promise<void> {
    await expect.poll(() => this.log, { timeout: 60_000 }).toContain('subscribed');
  }

  signal(signal: 'SIGKILL' | 'SIGTERM'): void {
    if (this.shell.exitCode === null && this.shell.signalCode === null) process.kill(-this.shell.pid!, signal);
  }
}

/** Number of lines of the tape that a follower has committed. */
async function committed(store: TestStore): Promise<number> {
  const { rows } = await store.pool.query(`SELECT value FROM store_facts WHERE key = 'followed stdin'`);
  return rows[0] ? JSON.parse(rows[0].value).lines : 0;
}

/** Rows that a follower stores of the tape without an interruption. */
async function wholeTape() {
  const store = await marketForThisTest();
  await follow(store, Readable.from([Buffer.from(few.join('\n'))]), options());
  return unnumbered(await stored(store));
}

/** Rows of a store once its events were sent, which wait for the end of the tape. */
async function whatFollowed(store: TestStore) {
  await follow(store, Readable.from([]), options());
  return unnumbered(await stored(store));
}

describe.skipIf(!hasNatsServer)('a tape that is piped from NATS', () => {
  test('becomes what it is as a file', async () => {
    const [port, store] = [await natsServer(), await marketForThisTest()];
    const client = await natsClient(port);
    onTestFinished(() => client.close());
    const pipe = new Pipe(`${port} tape.lines`, 'follow', store);
    await pipe.subscribed();
    for (const line of few) client.publish('tape.lines', line);
    await expect.poll(() => committed(store), { timeout: 60_000 }).toBe(few.length);
    pipe.signal('SIGTERM');
    await pipe.ended;
    expect(await whatFollowed(store)).toEqual(await wholeTape());
  });

  test('and is stored there loses nothing and repeats nothing when the pipe is killed and started again', async () => {
    const [port, store] = [await natsServer(), await marketForThisTest()];
    const client = await natsClient(port);
    onTestFinished(() => client.close());
    await client.request('$JS.API.STREAM.CREATE.TAPE', { name: 'TAPE', subjects: ['tape.lines'] });
    const positions: number[] = [];
    for (let part = 0; part < 3; part++) {
      const pipe = new Pipe(`${port} tape.lines TAPE`, 'follow --from-start', store);
      await pipe.subscribed();
      const before = await committed(store);
      for (const line of few.slice(part * 300, part * 300 + 300)) client.publish('tape.lines', line);
      if (part < 2) {
        await expect.poll(() => committed(store), { timeout: 60_000 }).toBeGreaterThan(before);
        await pause(Math.random() * 300);
        pipe.signal('SIGKILL');
      } else {
        await expect.poll(() => committed(store), { timeout: 60_000 }).toBe(few.length);
        pipe.signal('SIGTERM');
      }
      await pipe.ended;
      positions.push(await committed(store));
    }
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(positions[0]).toBeGreaterThan(0);
    expect(await whatFollowed(store)).toEqual(await wholeTape());
  });
});
