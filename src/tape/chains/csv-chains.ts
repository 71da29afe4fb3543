import { oratsStrikes } from '../formats/orats.ts';
import { thetaChain } from '../formats/theta.ts';
import { yfinanceChain } from '../formats/yfinance.ts';
import { columnFinder, csvRows } from '../text/csv-rows.ts';
import { stampedMs } from '../text/written-times.ts';
import { tickerOfCells } from '../vendors/contract-cells.ts';
import { oratsParts } from './orats-chain.ts';
import type { ChainPart, VendorChain } from './vendor-chain.ts';

/** Reads the cells of a line by the names of their columns; undefined for an absent one. */
type CellOf = (column: string) => string | undefined;

/** A chain in CSV: the contracts of each line, or the reason why it is invalid. */
function csvChain(
  format: VendorChain['format'],
  partsOf: (cell: CellOf) => readonly ChainPart[] | string,
): VendorChain {
  return {
    format,
    isJson: false,
    async *parts(texts) {
      let at: ((name: string) => number) | null = null;
      let line = 0;
      for await (const cells of csvRows(texts)) {
        line++;
        if (!at) at = columnFinder(cells!);
        else if (cells) {
          const find = at;
          yield { line, found: partsOf((column) => cells[find(column)]?.trim()) };
        }
      }
    },
  };
}

/** Strikes of ORATS. */
export const oratsCsvChain = csvChain(oratsStrikes, oratsParts);

/** Greeks of ThetaData at one time. Its theta and vega are in units that it does not state. */
export const thetaCsvChain = csvChain(thetaChain, (cell) => {
  const strike = cell('strike')!;
  const tsMs = stampedMs(cell('underlying_timestamp')!);
  const contract = tickerOfCells({
    ...{ root: cell('symbol')!, expiry: cell('expiration')!, right: cell('right')! },
    strike: /^\d+\.\d+$/.test(strike) ? Math.round(Number(strike) * 1000) : Number.NaN,
  });
  const [bid, ask, iv, delta, gamma] = ['bid', 'ask', 'implied_vol', 'delta', 'gamma'].map(cell);
  const spot = { price: cell('underlying_price'), tsMs };
  return [{ contract, numbers: { bid, ask, iv, delta, gamma }, times: [tsMs], spot }];
});

/** The least volatility that is one: the vendor writes 1e-5 for none. */
const leastVolatility = 1e-4;

/** Calls or puts of yfinance. It does not have the price of the underlying. */
export const yfinanceCsvChain = csvChain(yfinanceChain, (cell) => {
  const iv = Number(cell('impliedVolatility')) > leastVolatility ? cell('impliedVolatility') : undefined;
  const [bid, ask, last, volume] = ['bid', 'ask', 'lastPrice', 'volume'].map(cell);
  const numbers = { bid, ask, last, volume, iv, openInterest: cell('openInterest') };
  return [{ contract: cell('contractSymbol')!, numbers, times: [stampedMs(cell('lastTradeDate')!)] }];
});
