import type { Timeframe } from '../../../core/domain/market/bar.ts';
import { exchangeDate } from '../../../core/domain/market-time.ts';
import { chain, gex } from './export-captures.ts';
import { dividends } from './export-dividends.ts';
import { gexInputs } from './export-gex-inputs.ts';
import { optionBars } from './export-option-bars.ts';
import { rates } from './export-rates.ts';
import { roots } from './export-roots.ts';
import { splits } from './export-splits.ts';
import { stockBars } from './export-stock-bars.ts';
import { symbols } from './export-symbols.ts';
import { volatilityDays } from './export-volatility-days.ts';
import type { Exporter } from './exporter.ts';

const dateOfBar: NonNullable<Exporter['dateOf']> = ({ ts_ms }) => exchangeDate(Number(ts_ms));

/** An exporter of bars of one length, under the name of the files that `ingest` reads. */
function ofLength(exporter: Exporter, timeframe: Timeframe, describes: string): Exporter {
  return { ...exporter, timeframes: [timeframe], describes, ...(timeframe === '1m' && { dateOf: dateOfBar }) };
}

/** Exporters, by the name used on the command line. */
export const exporters: Record<string, Exporter> = {
  symbols,
  roots,
  splits,
  dividends,
  rates,
  'volatility-days': volatilityDays,
  'stock-bars': stockBars,
  'stock-minute-bars': ofLength(stockBars, '1m', 'stock-bars --timeframe 1m, under the name used by ingest'),
  'stock-day-bars': ofLength(stockBars, '1d', 'stock-bars --timeframe 1d, under the name used by ingest'),
  'option-bars': optionBars,
  'option-minute-bars': ofLength(optionBars, '1m', 'option-bars --timeframe 1m, under the name used by ingest'),
  chain,
  gex,
  'gex-inputs': gexInputs,
};

/** The length of bars to export: the requested one, else the only one there is, else 1m. */
export function lengthOf({ timeframes: lengths }: Exporter, asked: Timeframe | undefined): Timeframe {
  return asked ?? lengths?.[0] ?? '1m';
}
