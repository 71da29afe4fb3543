import { osiSymbol } from '../../../src/core/domain/chain/option-contract.ts';

/** The normal distribution by Simpson's rule: nothing of the engine's. */
function normal(x: number): number {
  const steps = 400;
  const h = x / steps;
  const density = (at: number) => Math.exp((-at * at) / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(0) + density(x);
  for (let i = 1; i < steps; i++) sum += (i % 2 ? 4 : 2) * density(i * h);
  return 0.5 + (sum * h) / 3;
}

/** Black's price of an option on a forward, with no interest. */
export function blackPrice(right: 'call' | 'put', forward: number, strike: number, volatility: number, years: number) {
  const width = volatility * Math.sqrt(years);
  const d1 = Math.log(forward / strike) / width + width / 2;
  const call = forward * normal(d1) - strike * normal(d1 - width);
  return right === 'call' ? call : call - forward + strike;
}

/** Inputs of a page of the exchange. */
export interface DelayedPage {
  /** The time as printed on the page: `November 16, 2026 at 3:50 PM EST`. */
  date: string;
  root: string;
  forward: number;
  /** Expiries, and the years that they are away from the time of the quotes. */
  expiries: Record<string, number>;
  strikes: readonly number[];
  /** Figures of every contract on the page. */
  volatility: number;
  /** Open contracts of a strike; 100 and 60 unless given. */
  interest?: { call: number; put: number };
}

const side = 'Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';

/** The exchange's page, saved as CSV, with quotes priced by `blackPrice`. */
export function delayedPage({ interest = { call: 100, put: 60 }, ...page }: DelayedPage): string {
  const { date, root, forward, expiries, strikes, volatility } = page;
  const lines = Object.entries(expiries).flatMap(([expiry, years]) =>
    strikes.map((strike) => {
      const cells = (['call', 'put'] as const).map((right) => {
        const worth = blackPrice(right, forward, strike, volatility, years);
        const contract = osiSymbol({ root, expiry, right, strike: strike * 1000 });
        const quote = worth < 1e-4 ? '0,0' : `${(worth - 5e-5).toFixed(8)},${(worth + 5e-5).toFixed(8)}`;
        return `${contract},0,0,${quote},0,${volatility},0.5,0.01,${interest[right]}`;
      });
      return `${expiry},${cells[0]},${strike},${cells[1]}`;
    }),
  );
  return [
    `An index,Last: ${forward},Change: 0`,
    `"Date: ${date}",Bid: 0,Ask: 0,Size: 1*1,Volume: 0`,
    `Expiration Date,Calls,${side},Strike,Puts,${side}`,
    ...lines,
    '',
  ].join('\n');
}
