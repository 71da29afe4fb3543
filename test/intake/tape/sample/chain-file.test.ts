import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blackScholes } from '../../../../src/core/analytics/pricing/black-scholes.ts';
import { chainFile, sessionChain, spotAt } from '../../../../src/intake/sample/market/chain-file.ts';
import {
  sampleDividendYield,
  sampleRate,
  strikeValue,
} from '../../../../src/intake/sample/market/options/option-value.ts';
import { samplePrices } from '../../../../src/intake/sample/market/prices.ts';
import { sampleSymbolOf } from '../../../../src/intake/sample/market/universe.ts';
import { readChainCsv } from '../../../../src/intake/tape/chains/exchange-page.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const session = '2026-11-18';
const minute = 15 * 60 + 5;

async function capture(symbol: string) {
  const prices = samplePrices();
  const entry = sampleSymbolOf(symbol);
  const path = join(folder(), `${symbol}.csv`);
  writeFileSync(path, chainFile(prices, sessionChain(prices, entry, session), minute));
  const { capture: read, halfLines } = await readChainCsv(path, (bad) => {
    throw new Error(bad.reason);
  });
  expect(halfLines).toEqual([]);
  return { read, spot: spotAt(prices, entry, session, minute), prior: prices.of(entry, session).priorClose };
}

test('chains of the simulated vendor are read as those of the real one', async () => {
  const { read, spot, prior } = await capture('SPX');
  expect(read).toMatchObject({ underlying: 'SPX', sessionDate: session, spot, partial: false });
  expect(read.priorCloseSpot).toBeCloseTo(prior, 2);
  expect(new Date(read.capturedAt).toISOString()).toBe('2026-11-18T20:05:00.000Z');
  expect(read.rows.some((row) => row.expiry === session && row.root === 'SPXW')).toBe(true);
  expect(read.rows.every((row) => row.iv! > 0 && row.ask! > 0 && row.bid! < row.ask!)).toBe(true);
  for (const row of read.rows) expect(Math.abs(row.delta!)).toBeLessThanOrEqual(1);
});

test('a right is never offered below what exercising it brings', async () => {
  const { read, spot } = await capture('TSLA');
  for (const row of read.rows) {
    const intrinsic = row.right === 'call' ? spot - row.strike / 1000 : row.strike / 1000 - spot;
    expect(row.ask).toBeGreaterThanOrEqual(intrinsic);
  }
});

test("the simulated vendor's greeks are Black and Scholes's", () => {
  for (const [strike, years, volatility] of [
    [90, 0.5, 0.3],
    [100, 0.01, 0.2],
    [120, 1, 0.4],
  ] as const) {
    const mine = strikeValue(100, strike, years, volatility);
    const inputs = { spot: 100, strike, years, volatility, rate: sampleRate, dividendYield: sampleDividendYield };
    const call = blackScholes({ right: 'call', ...inputs });
    expect(mine.call).toBeCloseTo(call.price, 4);
    expect(mine.callDelta).toBeCloseTo(call.delta, 6);
    expect(mine.gamma).toBeCloseTo(call.gamma, 6);
  }
});
