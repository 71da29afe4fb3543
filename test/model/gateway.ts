// The gateway that is compared with the model: its command line and its server, in this process, on a clock of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import pg from 'pg';
import type { Terminal } from '../../src/cli/io/terminal.ts';
import { run } from '../../src/cli/run.ts';
import type { Dataset } from '../../src/core/domain/dataset.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { writeSampleMetadata } from '../../src/intake/ingest/sample-metadata.ts';
import { openStore } from '../../src/store/rows/connection.ts';
import { changesChannel, notify } from '../../src/store/versions/notifications.ts';
import { type Answer, type Json, type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import type { TestStore } from '../support/store.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

/** Result of a command. */
export interface Ran {
  code: number;
  /** Its output with `--json`. */
  json: Json;
  /** Its lines on stderr. */
  said: string;
}

const callers = {
  key: { apiTier: 'pro', classification: 'non_professional' },
  session: { siteTier: 'pro', classification: 'non_professional' },
  free: { apiTier: 'free', classification: 'non_professional' },
  basic: { apiTier: 'basic', classification: 'non_professional' },
  undeclared: { apiTier: 'pro', classification: null },
} as const;
export type CallerName = keyof typeof callers;
export const callerNames = Object.keys(callers) as CallerName[];

/** Tier of a caller, and its declaration. */
export function rightsOf(caller: CallerName): { tier: 'free' | 'basic' | 'pro'; isAttested: boolean } {
  const of = callers[caller];
  return { tier: 'siteTier' in of ? of.siteTier : of.apiTier, isAttested: of.classification !== null };
}

/** A client, with what it is connected by. */
type BrokenClient = pg.Client & { connection: { stream: Socket } };

function collector(): { stream: Writable; text: () => string } {
  const parts: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      parts.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => parts.join('') };
}

export class Gateway {
  readonly store: TestStore;
  readonly #env: Record<string, string>;
  /** Servers of one database, which are asked in turn. */
  #servers: TestApp[] = [];
  #nowMs: number;
  readonly #credentials = new Map<CallerName, { credential: string; madeMs: number }>();
  /** Number of announcements of nothing. */
  #asked = 0;

  private constructor(store: TestStore, nowMs: number) {
    this.store = store;
    this.#nowMs = nowMs;
    this.#env = { DATABASE_URL: store.databaseUrl, LOG_LEVEL: 'error' };
  }

  /** Starts two servers over an empty store; `close` drops it. */
  static async open(store: TestStore, nowMs: number): Promise<Gateway> {
    const gateway = new Gateway(store, nowMs);
    await gateway.restart();
    await gateway.restart();
    return gateway;
  }

  /** Starts a server, which remembers nothing, in place of the older of two. */
  async restart(): Promise<void> {
    const { databaseUrl } = this.store;
    const own = await openStore({ databaseUrl, dataDir: '', migrate: false });
    this.#servers.push(await testApp({ store: { ...own, databaseUrl }, nowMs: this.#nowMs }));
    if (this.#servers.length > 2) await this.#servers.shift()!.close();
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  set nowMs(nowMs: number) {
    this.#nowMs = nowMs;
    for (const { clock } of this.#servers) clock.nowMs = nowMs;
  }

  /** The server that is asked next. */
  #next(): TestApp {
    this.#servers.reverse();
    return this.#servers[0]!;
  }

  /** Runs a command line with `--json`; `input` is its stdin. */
  async command(argv: readonly string[], input = ''): Promise<Ran> {
    const [out, err] = [collector(), collector()];
    const terminal: Terminal = {
      env: this.#env,
      now: () => this.nowMs,
      stdin: () => Readable.from([Buffer.from(input)]),
      stdout: out.stream,
      stderr: err.stream,
      interrupted: new AbortController().signal,
    };
    const code = await run([...argv, '--json'], terminal);
    await this.#hear();
    let json: Json = null;
    try {
      json = JSON.parse(out.text());
    } catch {
      // A command that printed no JSON is judged by its code.
    }
    return { code, json, said: err.text() };
  }

  /** Runs a command line whose connection breaks at its statement of this number, unless it has fewer. */
  async cut(argv: readonly string[], at: number): Promise<Ran> {
    const { connect, query } = pg.Client.prototype;
    const own = new WeakSet<pg.Client>();
    let statements = 0;
    const connecting = function (this: pg.Client, ...args: unknown[]) {
      own.add(this);
      return Reflect.apply(connect, this, args);
    };
    const asking = function (this: BrokenClient, ...args: unknown[]) {
      if (own.has(this) && ++statements === at) this.connection.stream.destroy();
      return Reflect.apply(query, this, args);
    };
    Object.assign(pg.Client.prototype, { connect: connecting, query: asking });
    try {
      return await this.command(argv);
    } finally {
      Object.assign(pg.Client.prototype, { connect, query });
    }
  }

  /** Runs a command line in a process of its own, which is killed after some time, unless it has ended. */
  async killed(argv: readonly string[], afterMs: number): Promise<void> {
    const ahead = this.nowMs - Date.now();
    const clock = `data:text/javascript,const { now } = Date; Date.now = () => now() + ${ahead};`;
    const child = spawn(process.execPath, ['--import', clock, main, ...argv], {
      env: { ...process.env, ...this.#env },
      stdio: 'ignore',
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
    await once(child, 'exit');
    clearTimeout(timer);
    await this.#hear();
  }

  /** Stores files of datasets as the sample market; none of it if other data is stored. */
  async storeSample(files: Readonly<Record<string, readonly string[]>>): Promise<void> {
    const now = () => this.nowMs;
    await writeSampleMetadata(this.store, { throughMs: this.nowMs }, { begins: true });
    for (const [dataset, paths] of Object.entries(files)) {
      if (paths.length === 0) continue;
      const report = await ingestFiles(this.store, dataset as Dataset, paths, { now, bundled: 'sample', delayMs: 0 });
      if (report.files.some(({ status }) => status === 'refused')) throw new Error(JSON.stringify(report.files));
    }
    await this.#hear();
  }

  /** Waits until the servers have heard of all commits so far: they are announced in the order of commits. */
  async #hear(): Promise<void> {
    const heard = this.#servers.map(
      ({ store }) =>
        new Promise<void>((resolve) => {
          const stop = store.versions.onChange((change) => {
            if (Object.keys(change).length > 0) return;
            stop();
            resolve();
          });
        }),
    );
    // The announcement of a change of nothing.
    await notify(this.store, changesChannel, JSON.stringify({ id: `model.${++this.#asked}` }));
    await Promise.all(heard);
  }

  async get(path: string, caller: CallerName = 'session'): Promise<Answer> {
    return this.#next().get(path, await this.#sending(caller));
  }

  /** Asks the graph. */
  async graph(query: string, caller: CallerName): Promise<Answer> {
    if (query.startsWith('subscription')) return this.#first(query, caller);
    return (await this.#next().graphql(query, {}, await this.#sending(caller))).answer;
  }

  /** The first `count` events of a live stream after `ready`; fewer if no more come within 20 s. */
  async events(path: string, caller: CallerName, count: number): Promise<Answer> {
    const { status, events } = await this.#read({ path, count: count + 1 }, caller);
    return { status, headers: {}, bytes: Buffer.of(), body: { data: events.slice(1) } };
  }

  /** The first answer of a subscription. */
  async #first(query: string, caller: CallerName): Promise<Answer> {
    const { status, events } = await this.#read(
      { path: '/graphql', count: 1, body: JSON.stringify({ query }) },
      caller,
    );
    return { status, headers: {}, bytes: Buffer.of(), body: events[0]?.data ?? {} };
  }

  async #read({ path, count, body }: { path: string; count: number; body?: string }, caller: CallerName) {
    const { credential, headers } = await this.#sending(caller);
    const authorization = `Bearer ${credential}`;
    const stream = await readEvents(this.#next().url + path, {
      ...(body && { method: 'POST', body }),
      headers: { ...headers, authorization, 'content-type': 'application/json' },
    });
    const late = setTimeout(() => stream.leave(), 20_000);
    while (stream.events.length < count && (await stream.next()));
    clearTimeout(late);
    stream.leave();
    return { status: stream.status, events: stream.events.slice(0, count) };
  }

  /** A caller's credential, on a connection of its own: while a command runs, the server may close an idle one. */
  async #sending(caller: CallerName) {
    return { credential: await this.#credentialOf(caller), headers: { connection: 'close' } };
  }

  async #credentialOf(caller: CallerName): Promise<string> {
    const known = this.#credentials.get(caller);
    // A session's token lasts an hour.
    if (known && (caller !== 'session' || this.nowMs < known.madeMs + 3_000_000)) return known.credential;
    const server = this.#servers[0]!;
    const credential = caller === 'session' ? await server.session(callers.session) : await server.key(callers[caller]);
    this.#credentials.set(caller, { credential, madeMs: this.nowMs });
    return credential;
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
    await this.store.close();
  }
}
