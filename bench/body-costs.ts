import type { BodyEndpoint } from '../test/support/body-endpoints.ts';
import { randomShape, type Shape, type ShapeClient, shapeClient } from './body-shapes.ts';
import { pageOfBars } from './graph-cpu.ts';
import type { Served } from './sample-server.ts';

/** Cost of a way of sending: its CPU time and its charge. */
export interface Cost {
  name: string;
  /** CPU time of the server's process for each time, ms. */
  cpuMs: number;
  /** Requests charged for each time; at least 1. */
  requests: number;
  /** CPU time of a charge, over that of a page of bars measured beside it. */
  ratio: number;
  /** Bytes of the answer. */
  bytes: number;
  status: number | null;
}

/** Results of a search over random bodies of one endpoint. */
export interface Search {
  /** The dearest bodies, each measured again. */
  dearest: Cost[];
  /** The dearest fifty that were sent one after the other, each for the first time, over the page. */
  dearestTogether: number;
  /** All of them, over the page. */
  mean: number;
  /** Answers of status 400 and more that are larger than they may be, and of status 500 and more. */
  tooLarge: number;
  failed: number;
}

/** Most bytes of an answer that rejects. */
const mostAnswerBytes = 100 * 1024;
const [least, most] = [{ times: 9, cpuMs: 30 }, { times: 40 }];
/** Random bodies that are measured together, so that each is also measured as sent for the first time. */
const together = 50;
/** Cost over the page's from which a body is measured again. */
const dear = 2;
/** Number of bodies of each endpoint that are measured again. */
const suspects = 8;

export const percentile = (values: readonly number[], at: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * at)]!;

/** Measures what sending costs, beside the page of bars that ten points are. */
export class CostMeter {
  readonly #server: Served;
  readonly #client: ShapeClient;
  readonly #pages: number[] = [];
  #sent = 0;
  /** Requests that were left of the minute after the last measurement. */
  #left = 0;

  constructor(server: Served) {
    this.#server = server;
    this.#client = shapeClient(server.url, server.token);
  }

  /** CPU time of a page of bars, ms: the middle of the last five times that it was measured. */
  get pageMs(): number {
    return percentile(this.#pages.slice(-5), 0.5);
  }

  /** CPU time and charge of work, without those of asking for them; null if the minute ended in between. */
  async spent(work: () => Promise<unknown>): Promise<{ cpuMs: number; requests: number } | null> {
    const before = (await this.#server.state()).cpuMs;
    await work();
    const cpuMs = (await this.#server.state()).cpuMs - before;
    const { headers } = await this.#client.send('GET', '/v2/symbols/SPY');
    const left = Number(headers['x-ratelimit-remaining']);
    const requests = this.#left - left - 1;
    this.#left = left;
    return requests >= 0 ? { cpuMs, requests } : null;
  }

  /** Measures the page, again and again, since the pace of the machine changes. */
  async page(): Promise<void> {
    const query = pageOfBars('2026-11-10', '2026-11-20');
    const send = async () => {
      this.#sent += 1;
      const body = JSON.stringify({ query, variables: { sent: this.#sent } });
      const { status, bytes } = await this.#client.send('POST', '/graphql', { body });
      return { status, bytes: bytes.length };
    };
    const { cpuMs, requests } = await this.#taken({ name: 'page', send });
    this.#pages.push(cpuMs / requests);
  }

  async #taken({ name, send }: Shape): Promise<Omit<Cost, 'ratio'>> {
    let last = await send();
    const [cpuMs, requests]: [number[], number[]] = [[], []];
    let total = 0;
    for (let times = 0; times < least.times || (times < most.times && total < least.cpuMs); times++) {
      const one = await this.spent(async () => {
        last = await send();
      });
      if (one === null) continue;
      total += one.cpuMs;
      cpuMs.push(one.cpuMs);
      requests.push(one.requests);
    }
    return { name, cpuMs: percentile(cpuMs, 0.5), requests: Math.max(1, percentile(requests, 0.5)), ...last };
  }

  /** Measures the cost of a shape: the median of several times, measured again later if it is high. */
  async cost(shape: Shape): Promise<Cost> {
    let cost: Cost | null = null;
    for (let time = 0; time < 3 && (cost === null || cost.ratio > dear); time++) {
      if (time > 0) await this.page();
      const taken = await this.#taken(shape);
      const ratio = taken.cpuMs / taken.requests / this.pageMs;
      if (cost === null || ratio < cost.ratio) cost = { ...taken, ratio };
    }
    return cost!;
  }

  /** Sends random bodies to an endpoint, `count` from the number `first` on. */
  async search(endpoint: BodyEndpoint, count: number, first: number): Promise<Search> {
    const { url, token } = this.#server;
    const found: { shape: Shape; ratio: number }[] = [];
    const result: Search = { dearest: [], dearestTogether: 0, mean: 0, tooLarge: 0, failed: 0 };
    const batches: number[] = [];
    for (let done = 0; done < count; done += together) {
      await this.page();
      const sum = { cpuMs: 0, requests: 0 };
      for (let number = first + done; number < first + Math.min(count, done + together); number++) {
        const shape = randomShape(endpoint, number, url, token);
        const one = await this.spent(async () => {
          const { status, bytes } = await shape.send();
          if ((status ?? 0) >= 400 && bytes > mostAnswerBytes) result.tooLarge += 1;
          if ((status ?? 0) >= 500) result.failed += 1;
        });
        if (one === null) continue;
        sum.cpuMs += one.cpuMs;
        sum.requests += Math.max(1, one.requests);
        found.push({ shape, ratio: one.cpuMs / Math.max(1, one.requests) });
        if (found.length > suspects) found.sort((a, b) => b.ratio - a.ratio).pop();
      }
      batches.push(sum.cpuMs / sum.requests / this.pageMs);
    }
    for (const { shape } of found) {
      await this.page();
      result.dearest.push(await this.cost(shape));
    }
    result.dearest.sort((a, b) => b.ratio - a.ratio);
    result.mean = batches.reduce((sum, ratio) => sum + ratio, 0) / batches.length;
    result.dearestTogether = Math.max(...batches);
    return result;
  }
}
