import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'vitest';
import type { Json, TestApp } from './app.ts';
import { type Counted, counterDocument, countersOf } from './counter-market.ts';

/** Counts in a thread with a store of its own, as another process would. */
export function countElsewhere(databaseUrl: string, counted: Counted): { stop(): Promise<number> } {
  const workerData = { databaseUrl, counted };
  const worker = new Worker(new URL('counter-writer.ts', import.meta.url), { workerData });
  return {
    async stop() {
      worker.postMessage('stop');
      const [last] = (await once(worker, 'message')) as [number];
      return last;
    },
  };
}

/** Counters that are seen at least, so that something was written meanwhile. */
const fewestSeen = 5;

type Asks = Pick<TestApp, 'graphql' | 'get' | 'send'>;

/** Compared answers, and what they have shown. */
export class CounterAnswers {
  readonly #app: Asks;
  readonly #credential: string;
  readonly #counted: Counted;
  /** Number of answers compared. */
  compared = 0;
  /** Symbols of which an answer has shown several counters. */
  readonly mixed: string[] = [];
  readonly seen = new Set<number>();

  constructor(app: Asks, credential: string, counted: Counted) {
    this.#app = app;
    this.#credential = credential;
    this.#counted = counted;
  }

  #compare(bySymbol: Iterable<readonly [string, ReadonlySet<number>]>): void {
    this.compared += 1;
    for (const [symbol, counters] of bySymbol) {
      for (const counter of counters) this.seen.add(counter);
      if (counters.size !== 1) this.mixed.push(`${symbol}: ${[...counters].join(', ')}`);
    }
  }

  #quotes(rows: readonly Json[]): void {
    this.#compare(rows.map((row) => [row.symbol, new Set([row.spot, row.volume, row.official_close])]));
  }

  /** A document of 25 fields. */
  async document(): Promise<void> {
    const { data, errors } = await this.#app.graphql(counterDocument(this.#counted.whole, 25), {}, this.#sending());
    expect(errors).toBeUndefined();
    this.#compare(countersOf(data));
  }

  /** REST's quotes of all symbols. */
  async quotes(): Promise<void> {
    const symbols = [...this.#counted.whole, ...this.#counted.priced].join();
    const { status, body } = await this.#app.get(`/v2/quotes?symbols=${symbols}`, this.#sending());
    expect(status).toBe(200);
    this.#quotes(body.data);
  }

  /** The tools for quotes and for the graph. */
  async tools(): Promise<void> {
    const symbols = [...this.#counted.whole, ...this.#counted.priced].join();
    this.#quotes((await this.#call('quotes', { symbols })).data);
    const { data, errors } = await this.#call('graphql', { query: counterDocument(this.#counted.whole, 10) });
    expect(errors).toBeUndefined();
    this.#compare(countersOf(data));
  }

  async #call(name: string, given: object): Promise<Json> {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const { body } = await this.#app.send('POST', '/mcp', {
      ...this.#sending({ accept: 'application/json, text/event-stream' }),
      body: JSON.stringify(message),
    });
    return body.result.structuredContent;
  }

  #sending(headers: Record<string, string> = {}) {
    return { credential: this.#credential, headers };
  }

  /** Asks in all of these ways, several at a time, until this many answers are compared and some counters were seen. */
  async atLeast(answers: number, atATime = 4): Promise<void> {
    let asked = 0;
    const ask = async () => {
      while (this.compared < answers || this.seen.size < fewestSeen) {
        asked += 1;
        if (asked % 4 === 0) await this.document();
        else if (asked % 4 === 1) await this.tools();
        else await this.quotes();
      }
    };
    await Promise.all(Array.from({ length: atATime }, ask));
  }
}
