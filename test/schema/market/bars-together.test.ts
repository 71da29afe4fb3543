import { expect, onTestFinished, test } from 'vitest';
import { testApp } from '../../support/app.ts';
import { minutes } from '../../support/live.ts';
import { newYork } from '../../support/option-market.ts';

const dates = ['2026-11-02', '2026-11-18', '2026-11-20', '2026-11-24'];
const month = 'bars(from: "2026-11-01", to: "2026-12-01", timeframe: "1m") { rows { close } }';
const day = (date: string) => `bars(from: "${date}T09:30", to: "${date}T16:00", timeframe: "1m") { rows { close } }`;

test.each(dates)('a month of bars asked with %s alone has all sessions, then and later', async (date) => {
  const app = await testApp({ nowMs: newYork('2026-11-25', '12:00') });
  onTestFinished(() => app.close());
  for (const [i, session] of dates.entries()) await minutes(app.store, 'SPY', session, 0, [[i + 1, 5]]);
  const closes = { rows: dates.map((_, i) => ({ close: i + 1 })) };
  const credential = await app.session();
  const ask = async (fields: string) =>
    (await app.graphql(`{ symbol(symbol: "SPY") { ${fields} } }`, {}, { credential })).data.symbol;
  expect(await ask(`day: ${day(date)} month: ${month}`)).toEqual({
    day: { rows: [{ close: dates.indexOf(date) + 1 }] },
    month: closes,
  });
  expect(await ask(`month: ${month}`)).toEqual({ month: closes });
});
