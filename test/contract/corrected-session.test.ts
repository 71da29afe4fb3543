import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { readEvents } from '../support/event-reader.ts';
import { type HandTimers, handTimers, trade } from '../support/live.ts';
import { barStreamEndpoints, streamEndpoints } from '../support/stream-endpoints.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * A Monday's tape is corrected in its evening, when the current trade date is Tuesday's already, and on Tuesday. Each
 * test has a symbol of its own on it, whose prices all are other ones after it.
 */
const patient = { timeout: 10_000 };
const [monday, tuesday] = ['2026-11-16', '2026-11-17'];
const at = (date: string, hour: number, minute = 0) => exchangeInstant(date, hour * 60 + minute);
const header = 'ticker,conditions,correction,exchange,id,price,sequence_number,sip_timestamp,size,tape,trf_id';
const times = {
  'before 20:00': at(monday!, 17),
  'after 20:00': at(monday!, 20, 30),
  'while the next session trades': at(tuesday!, 11),
};
type Time = keyof typeof times;
const folder = temporaryFolder();
let files = 0;
let app: TestApp;
let timers: HandTimers;
let key: string;

beforeAll(async () => {
  timers = handTimers();
  app = await testApp({ every: timers.every });
  key = await app.key();
});
afterAll(() => app.close());

/** Ingests the tape of Monday: a print at 12:00 and one at the close, as they are or corrected. */
async function ingestMonday(symbol: string, noon: number, close: number): Promise<void> {
  const print = (id: number, minute: number, price: number) =>
    `${symbol},,0,4,${id},${price},${id},${at(monday!, 0, minute)}000000,100,2,202`;
  const path = join(folder(), `${files++}.csv`);
  writeFileSync(path, [header, print(1, 720, noon), print(2, 959, close)].join('\n'));
  const [report] = (await ingestFiles(app.store, 'stock-trades', [path], { now: () => app.clock.nowMs })).files;
  expect(report).toMatchObject({ status: 'stored', badLineCount: 0 });
}

const cases = (Object.keys(times) as Time[]).flatMap((time) =>
  Object.keys(barStreamEndpoints).map((endpoint) => [endpoint, time] as const),
);

test.each(cases)('%s sends a bar of a closed session that is corrected %s', async (endpoint, time) => {
  app.clock.nowMs = at(monday!, 17);
  await ingestMonday('SPY', 600, 610);
  const followed = await barStreamEndpoints[endpoint]!(app, key, 'SPY');
  onTestFinished(followed.leave);
  await expect.poll(followed.prices, patient).toEqual([610]);
  // The session goes over before anything is corrected.
  app.clock.nowMs = times[time];
  timers.sweep();
  await ingestMonday('SPY', 601, 610);
  await expect.poll(followed.prices, patient).toEqual([610, 601]);
});

test.each(Object.keys(streamEndpoints))(
  '%s sends the price of a closed session that is corrected',
  async (endpoint) => {
    app.clock.nowMs = at(monday!, 17);
    await ingestMonday('AAPL', 200, 210);
    const followed = await streamEndpoints[endpoint]!(app, key, 'AAPL');
    onTestFinished(followed.leave);
    await expect.poll(followed.prices, patient).toEqual([210]);
    app.clock.nowMs = times['after 20:00'];
    await ingestMonday('AAPL', 200, 211);
    await expect.poll(followed.prices, patient).toEqual([210, 211]);
  },
);

test('a price of the next session changes against the corrected close', async () => {
  app.clock.nowMs = at(monday!, 17);
  await ingestMonday('MSFT', 400, 400);
  app.clock.nowMs = times['while the next session trades'];
  await trade(app.store, { MSFT: 440 }, app.clock.nowMs - 1000);
  const headers = { authorization: `Bearer ${key}` };
  const reader = await readEvents(`${app.url}/v2/stream?topics=quotes:MSFT`, { headers });
  onTestFinished(reader.leave);
  const quotes = () =>
    reader.events.filter(({ event }) => event === 'quotes').map(({ data }) => [data.official_close, data.change_pct]);
  await expect.poll(quotes, patient).toEqual([[400, 10]]);
  await ingestMonday('MSFT', 400, 352);
  // Closes of sessions before are read at intervals while a price moves.
  const swept = () => {
    timers.sweep();
    return quotes();
  };
  await expect.poll(swept, patient).toEqual([
    [400, 10],
    [352, 25],
  ]);
});
