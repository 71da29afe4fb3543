import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { filledNowMs, fillMarket } from '../support/filled-market.ts';
import { failureCodes } from './failure-codes.ts';
import { rawRequests } from './raw-requests.ts';

let app: TestApp;
let credential: string;
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  app = await testApp({ nowMs: filledNowMs });
  await fillMarket(app.store);
  credential = await app.session();
});
afterAll(async () => {
  process.off('unhandledRejection', onRejection);
  await app.close();
});

/** Sends bytes as they are, and gives back what came until the connection closed or was silent. */
function raw(bytes: Buffer | string, { hangUp = false } = {}): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes);
      if (hangUp) setTimeout(() => socket.destroy(), 5);
    });
    let answer = '';
    socket.setTimeout(400, () => socket.destroy());
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
}

describe('what no client would send', () => {
  const auth = () => `Host: x\r\nAuthorization: Bearer ${credential}\r\n`;
  const json = (length: number | string) => `Content-Type: application/json\r\nContent-Length: ${length}\r\n`;
  test.concurrent.each(Object.keys(rawRequests))('%s', async (name) => {
    const answer = await raw(rawRequests[name]!(auth()));
    const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => Number(match[1]));
    // 505 is HTTP's own word for a version that is not spoken.
    expect(statuses.filter((status) => status >= 500 && status !== 505)).toEqual([]);
    for (const [, body] of answer.matchAll(/\r\n\r\n(\{"error".*?\})\s*(?=HTTP|$)/gs)) {
      expect(failureCodes).toContain(JSON.parse(body!).error.code);
    }
  });

  test('clients that hang up in the middle leave nothing behind', async () => {
    const all = [
      `PUT /v2/watchlists/x HTTP/1.1\r\n${auth()}${json(1000)}\r\n{"name":`,
      `POST /v2/journal/import?import_id=x HTTP/1.1\r\n${auth()}Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n{`,
      `POST /graphql HTTP/1.1\r\n${auth()}${json(1000)}\r\n{"query":`,
      `GET /v2/stocks/SPY/bars?from=2026-11-25&to=2026-12-01 HTTP/1.1\r\n${auth()}\r\n`,
      `GET /v2/gex/SPY/history?date=2026-11-30 HTTP/1.1\r\n${auth()}\r\n`,
      `GET /v2/symbols/SPY HTTP/1.1\r\n${auth()}`,
    ];
    await Promise.all(Array.from({ length: 60 }, (_, i) => raw(all[i % all.length]!, { hangUp: true })));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(rejections).toEqual([]);
    expect((await app.get('/v2/symbols/SPY', { credential: credential })).status).toBe(200);
  });
});
