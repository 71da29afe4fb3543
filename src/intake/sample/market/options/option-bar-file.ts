import { contractId, type OptionContract } from '../../../../core/domain/chain/option-contract.ts';
import { unknownBars } from '../../../../core/domain/market/bar.ts';
import type { SessionDate } from '../../../../core/domain/market-time.ts';
import { hourMs, minuteMs } from '../../../../platform/runtime/clock.ts';
import { barHeader, barLines } from '../bar-files.ts';
import { type ListedExpiry, listedExpiries } from '../listing.ts';
import { minuteWeight, type SamplePrices } from '../prices.ts';
import { randomFrom, seedOf } from '../random.ts';
import { type SampleSymbol, sampleSymbols } from '../universe.ts';
import { smile, strikeValue } from './option-value.ts';

const cents = (price: number) => Math.max(0.01, Math.round(price * 100) / 100);

function contractLines(
  prices: SamplePrices,
  entry: SampleSymbol,
  session: SessionDate,
  contract: OptionContract,
  { expiryMs }: ListedExpiry,
  untilMs: number,
): string {
  const underlying = prices.minutes(entry, session);
  const minutes = underlying.tsMs.length;
  const random = randomFrom(seedOf('option bars', contractId(contract), session));
  const bars = unknownBars(minutes);
  const strike = contract.strike / 1000;
  const priceAt = (spot: number, atMs: number) => {
    const years = Math.max(minuteMs, expiryMs - atMs) / (365 * 24 * hourMs);
    const value = strikeValue(spot, strike, years, smile(entry.volatility, spot, strike, years));
    return cents(contract.right === 'call' ? value.call : value.put);
  };
  let count = 0;
  for (let i = 0; i < minutes; i++) {
    // A contract does not trade in every minute.
    if (random.next() < 0.15) continue;
    const tsMs = underlying.tsMs[i]!;
    const around = [underlying.open, underlying.high, underlying.low, underlying.close].map((column) =>
      priceAt(column[i]!, tsMs),
    );
    const volume = 1 + Math.round(40 * minuteWeight(i, minutes) * random.next());
    bars.tsMs[count] = tsMs;
    bars.open[count] = around[0]!;
    bars.close[count] = around[3]!;
    bars.high[count] = Math.max(...around);
    bars.low[count] = Math.min(...around);
    bars.volume[count] = volume;
    bars.vwap[count] = Math.round((around.reduce((sum, price) => sum + price, 0) / 4) * 1e4) / 1e4;
    bars.tradeCount[count] = Math.max(1, Math.round(volume / 4));
    count++;
  }
  bars.tsMs = bars.tsMs.slice(0, count);
  return barLines(contractId(contract), bars, untilMs);
}

/**
 * Minute bars of the contracts nearest the money: a call and a put of the two nearest expiries of every ticker with
 * frequent chains.
 */
export function optionBarFile(prices: SamplePrices, session: SessionDate, untilMs: number): string {
  let text = barHeader;
  for (const entry of sampleSymbols.filter(({ chains }) => chains === 'every5m')) {
    const { open } = prices.of(entry, session);
    for (const listed of listedExpiries(prices, entry, session).slice(0, 2)) {
      const nearest = listed.strikes.reduce((best, strike) =>
        Math.abs(strike - open) < Math.abs(best - open) ? strike : best,
      );
      for (const right of ['call', 'put'] as const) {
        const contract = { root: listed.root, expiry: listed.expiry, right, strike: nearest * 1000 };
        text += contractLines(prices, entry, session, contract, listed, untilMs);
      }
    }
  }
  return text;
}
