// A dashboard as of an instant takes as many statements for many symbols as for one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';
import { newYork } from '../support/option-market.ts';
import { statementsOf } from '../support/statements.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await filledApp();
  session = await app.session();
});
afterAll(() => app.close());

const panel = `{
  quote { spot changePct volume officialClose }
  spot { price ts }
  bars(from: "2026-11-30", to: "2026-12-01", timeframe: "5m") { rows { tsMs close } meta { rowCount } }
  gex { latest(topStrikes: 20) { capturedAt netGex flipPoint flipStatus strikes { strike gex } } exposures { total { delta } } }
  expirations { dates }
  volatility { figures { iv30 rank { rank } realized { closeToClose } } }
  flow { crossSection { snapshot { seq } } unusual { callPremiumUsd } }
  offExchange { activity { rows { date offExchPct } } }
}`;
let minute = 0;

/** Statements of a dashboard as of an instant that nobody asked for before. */
async function count(symbols: readonly string[]): Promise<number> {
  const each = symbols.map((symbol, i) => `s${i}: symbol(symbol: "${symbol}") ${panel}`);
  const query = `{ asOf(at: "${newYork('2026-11-30', '10:00') + ++minute * 60_000}") { ${each.join(' ')} } }`;
  const { length } = await statementsOf(async () =>
    expect((await app.graphql(query, {}, { credential: session })).errors).toBeUndefined(),
  );
  return length;
}

test('a dashboard at an instant that is new: as many statements for five symbols as for one', async () => {
  const five = ['SPY', 'AAPL', 'MSFT', 'NVDA', 'XSP'];
  await count(five);
  const one = await count(['SPY']);
  expect(one).toBeGreaterThan(0);
  expect(await count(five)).toBe(one);
});
