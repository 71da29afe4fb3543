import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stockTradeConditions } from '../../src/core/domain/market/stock-trade-conditions.ts';
import { exchangeInstant } from '../../src/core/domain/market-time.ts';
import { ingestFiles } from '../../src/intake/ingest/ingest.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';
import { randomOf } from '../support/random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const session = '2026-11-17';
const header =
  'ticker,conditions,correction,exchange,id,participant_timestamp,price,sequence_number,sip_timestamp,size,tape,trf_id,trf_timestamp';
const after = exchangeInstant('2026-11-18', 60);
const minutes = (minute: number) => exchangeInstant(session, minute);
/** Before the open, around it, around the close, and the evening. */
const hours = [
  [555, 558],
  [569, 573],
  [955, 963],
  [1100, 1102],
] as const;

interface Print {
  ms: number;
  line: string;
}

/** The listing exchange's closing print: after a second that makes a bar, and with volume that forms no price. */
const closing = minutes(960) + 2500;

/** Prints with conditions from the whole reference, most of them in seconds of their own. */
function printsOf(seed: number): Print[] {
  const random = randomOf(seed);
  const prints: Print[] = [];
  const print = (ms: number, conditions: string, exchange: number, price: number) => {
    const [id, size, stamp] = [prints.length + 1, 1 + random.below(500), `${ms}000000`];
    const trf = exchange === 4 ? 202 : '';
    const line = `SPY,${conditions},0,${exchange},${id},${stamp},${price},${id},${stamp},${size},1,${trf},`;
    prints.push({ ms, line });
  };
  for (const [from, to] of hours) {
    for (let ms = minutes(from); ms < minutes(to); ms += 1 + random.below(4000)) {
      if (Math.abs(ms - closing) < 2000) continue;
      const ids = random.once(3) ? [] : [random.pick(stockTradeConditions).id, ...(random.once(4) ? [37] : [])];
      const price = 100 + random.below(400) / 100;
      print(ms, ids.length > 1 ? `"${ids.join(',')}"` : ids.join(''), random.pick([4, 10, 10, 11]), price);
    }
  }
  print(closing - 1000, '', 10, 102);
  print(closing, '2', 10, 90);
  print(closing, '15', 10, 150);
  return prints.sort((a, b) => a.ms - b.ms);
}

/** A day's bar and quote, and the longer bars in progress; not what tells of the request. */
async function shownBy(app: TestApp, at: number | null): Promise<Json> {
  const asked = at === null ? '' : `&at=${at}`;
  const bars = async (timeframe: string) =>
    (await app.get(`/v2/stocks/SPY/bars?timeframe=${timeframe}&from=2026-11-16&to=2026-11-19&limit=1000${asked}`)).body
      .data;
  const { spot, change_pct, volume, official_close } = (await app.get(`/v2/quotes?symbols=SPY${asked}`)).body.data[0];
  return {
    quote: { spot, change_pct, volume, official_close },
    day: await bars('1d'),
    hour: await bars('1h'),
    five: await bars('5m'),
    minute: await bars('1m'),
  };
}

describe.each([1, 2])('a stock tape of seed %i with every condition of the reference', (seed) => {
  const folder = temporaryFolder();
  const prints = printsOf(seed);
  const random = randomOf(seed + 100);
  let whole: TestApp;

  async function appOf(some: readonly Print[], nowMs: number): Promise<TestApp> {
    const app = await testApp({ nowMs });
    const path = join(folder(), `${nowMs}.csv`);
    writeFileSync(path, [header, ...some.map(({ line }) => line), ''].join('\n'));
    const { files } = await ingestFiles(app.store, 'stock-trades', [path], { now: () => after });
    expect(files[0]!.status).toBe('stored');
    return app;
  }

  beforeAll(async () => {
    whole = await appOf(prints, after);
  });
  afterAll(() => whole.close());

  const drawn = hours.flatMap(([from, to]) =>
    [0, 1].map(() => minutes(from) + 1000 * (20 + random.below((to - from) * 60))),
  );

  // A bar in progress never closes at the official close, which is the day's.
  test.each([...drawn, minutes(960) + 3000])('as of %i is what the tape up to then gives', async (ms) => {
    const cut = await appOf(
      prints.filter((print) => print.ms < ms),
      ms,
    );
    try {
      expect(await shownBy(whole, ms)).toEqual(await shownBy(cut, null));
    } finally {
      await cut.close();
    }
  });
});
