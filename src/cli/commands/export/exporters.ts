import { shownGreek, sourceTime } from '../../../core/domain/chain/chain.ts';
import { chainColumns, greekColumns, greekNames } from '../../../core/domain/chain/chain-columns.ts';
import { contractId } from '../../../core/domain/chain/option-contract.ts';
import { knownRoots } from '../../../core/domain/chain/option-root.ts';
import { restNames, restRows, restTypes, rowReader } from '../../../core/domain/columns.ts';
import { gexRowAt } from '../../../core/domain/gex/gex.ts';
import { strikeColumns } from '../../../core/domain/gex/gex-columns.ts';
import { type BarColumns, inWholeShares, type Timeframe } from '../../../core/domain/market/bar.ts';
import { barNumbers } from '../../../core/domain/market/bar-columns.ts';
import { exchangeDate } from '../../../core/domain/market-time.ts';
import type { Cell, ColumnType } from '../../../rest/contract/table.ts';
import type { Store } from '../../../store/rows/connection.ts';

/** Columns of a bar of a stock or an option contract. */
const barColumns = { timeframe: 'text', ...restTypes(barNumbers) } as const;

/** The numbers of the bar at an index by their columns. */
const exportedBar: (bars: BarColumns, index: number) => ExportRow = rowReader(barNumbers, {
  names: restNames(barNumbers),
});

const chainNumbers = restRows(chainColumns);
const strikeNumbers = restRows(strikeColumns);

/** Every chain captured in the range, one row per contract. */
const chain: Exporter = {
  describes: 'captured option chains, one row per contract; strikes in thousandths of a dollar',
  whole: false,
  dateOf: (row) => String(row.session_date),
  columns: {
    symbol: 'text',
    captured_at: 'int64',
    session_date: 'text',
    spot: 'float64',
    contract: 'text',
    expiry: 'text',
    right: 'text',
    strike: 'int64',
    ...restTypes(chainColumns),
    ...Object.fromEntries(greekNames.map((name) => [`solved_${name}`, greekColumns[name].type])),
    delay_ms: 'int64',
    methodology_version: 'text',
  },
  async *rows(store, { symbol, fromMs, toMs }) {
    if (symbol === null) return;
    const [{ captureTimes }, { chainCapturesAt }, { latestGexCaptures }] = await Promise.all([
      import('../../../store/chain/session-captures.ts'),
      import('../../../store/chain/chain-captures.ts'),
      import('../../../store/gex/captures.ts'),
    ]);
    for (const atMs of await captureTimes(store, 'chain', symbol, fromMs, toMs)) {
      const [capture] = await chainCapturesAt(store, [{ underlying: symbol, atMs }]);
      const computed = (await latestGexCaptures(store, [symbol], atMs, { byExpiry: false })).get(symbol);
      const methodologyVersion = computed?.capturedAt === atMs ? computed.methodologyVersion : null;
      for (const row of capture?.rows ?? []) {
        const { expiry, right, strike, solved } = row;
        yield {
          symbol,
          captured_at: atMs,
          session_date: capture!.sessionDate,
          spot: capture!.spot,
          contract: contractId(row),
          expiry,
          right,
          strike,
          ...chainNumbers(row),
          ...Object.fromEntries(greekNames.map((name) => [name, shownGreek(row, name)])),
          ...Object.fromEntries(greekNames.map((name) => [`solved_${name}`, solved?.[name] ?? null])),
          delay_ms: capture!.delayMs ?? null,
          methodology_version: methodologyVersion,
        };
      }
    }
  },
};

/** The GEX captures of a symbol in a range, one at a time; none without a symbol. */
async function* gexCaptures(store: Store, { symbol, fromMs, toMs }: ExportRange, byExpiry: boolean) {
  if (symbol === null) return;
  const [{ captureTimes }, { latestGexCaptures }] = await Promise.all([
    import('../../../store/chain/session-captures.ts'),
    import('../../../store/gex/captures.ts'),
  ]);
  for (const atMs of await captureTimes(store, 'gex', symbol, fromMs, toMs)) {
    const capture = (await latestGexCaptures(store, [symbol], atMs, { byExpiry })).get(symbol);
    if (capture) yield capture;
  }
}

/** Every GEX capture in the range, one row per strike and expiry; their sums are the net rows. */
const gex: Exporter = {
  describes: 'captured dealer gamma, one row per strike and expiry; strikes in thousandths of a dollar',
  whole: false,
  dateOf: (row) => String(row.session_date),
  columns: {
    symbol: 'text',
    captured_at: 'int64',
    session_date: 'text',
    spot: 'float64',
    prior_close_spot: 'float64',
    strike: 'int64',
    expiry: 'text',
    ...restTypes(strikeColumns),
    implied_spot: 'float64',
    spot_stale: 'bool',
    delay_ms: 'int64',
    methodology_version: 'text',
  },
  async *rows(store, range) {
    for await (const capture of gexCaptures(store, range, true)) {
      const rows = capture.byExpiry;
      for (let i = 0; i < (rows?.strike.length ?? 0); i++) {
        const row = gexRowAt(rows!, i);
        yield {
          symbol: capture.underlying,
          captured_at: capture.capturedAt,
          session_date: capture.sessionDate,
          spot: capture.spot,
          prior_close_spot: capture.priorCloseSpot,
          strike: row.strike,
          expiry: row.expiry,
          ...strikeNumbers(row),
          implied_spot: capture.impliedSpot,
          spot_stale: capture.spotStale,
          delay_ms: capture.delayMs,
          methodology_version: capture.methodologyVersion,
        };
      }
    }
  },
};

/** The dividends, in the columns of the dataset, so that an export can be ingested. */
const dividends: Exporter = {
  describes: 'dividends, in the columns that ingest reads; of all symbols without --symbol',
  whole: true,
  columns: { symbol: 'text', ex_date: 'text', amount: 'float64', ratio: 'float64', kind: 'text', declared: 'text' },
  async *rows(store, { symbol: asked }) {
    const { allDividends } = await import('../../../store/market/dividends.ts');
    for (const { symbol, exDate, amount, ratio, kind, declared } of await allDividends(store, asked))
      yield { symbol, ex_date: exDate, amount, ratio, kind, declared };
  },
};

/** Inputs of every GEX capture in the range, one row per root and expiry; captures of older versions have none. */
const gexInputs: Exporter = {
  describes: 'what captured dealer gamma was computed from, one row per option root and expiry',
  whole: false,
  dateOf: (row) => String(row.session_date),
  columns: {
    symbol: 'text',
    captured_at: 'int64',
    session_date: 'text',
    source_time: 'int64',
    delay_ms: 'int64',
    methodology_version: 'text',
    product_version: 'text',
    file: 'text',
    file_sha256: 'text',
    gamma_source: 'text',
    gamma_decimals: 'int32',
    expiry: 'text',
    root: 'text',
    years: 'float64',
    rate: 'float64',
    forward: 'float64',
    dividend_yield: 'float64',
    dividend: 'float64',
    dividend_ex_date: 'text',
    dividend_source: 'text',
  },
  async *rows(store, range) {
    const { gexInputsOf } = await import('../../../store/gex/inputs.ts');
    for await (const capture of gexCaptures(store, range, false)) {
      const [inputs] = await gexInputsOf(store, [capture]);
      for (const { expiry, root, years, rate, forward, dividendYield, dividend } of inputs?.expiries ?? [])
        yield {
          symbol: capture.underlying,
          captured_at: capture.capturedAt,
          session_date: capture.sessionDate,
          source_time: sourceTime(capture),
          delay_ms: capture.delayMs,
          methodology_version: capture.methodologyVersion,
          product_version: inputs!.productVersion,
          file: inputs!.file?.name ?? null,
          file_sha256: inputs!.file?.sha256 ?? null,
          gamma_source: capture.gammaSource,
          gamma_decimals: capture.gammaDecimals,
          expiry,
          root,
          years,
          rate,
          forward,
          dividend_yield: dividendYield,
          dividend: dividend?.amount ?? null,
          dividend_ex_date: dividend?.exDate ?? null,
          dividend_source: dividend?.source ?? null,
        };
    }
  },
};

/** Bars of every contract of an underlying, by session and contract. */
const optionBars: Exporter = {
  describes: 'bars of an underlying’s contracts, by session, then contract; --timeframe 1m or 5m',
  whole: false,
  timeframes: ['1m', '5m'],
  columns: {
    symbol: 'text',
    contract: 'text',
    ...barColumns,
  },
  async *rows(store, { symbol, timeframe, fromMs, toMs }) {
    if (symbol === null || (timeframe !== '1m' && timeframe !== '5m')) return;
    const [{ readOptionBars }, { storedOptionBars }] = await Promise.all([
      import('../../../store/chain/option-bars.ts'),
      import('../../../store/chain/stored-option-bars.ts'),
    ]);
    const sessions = await storedOptionBars(store, symbol, exchangeDate(fromMs), exchangeDate(toMs));
    for (const { sessionDate, contract } of sessions) {
      const { bars } = await readOptionBars(store, { underlying: symbol, contract }, sessionDate, timeframe);
      for (let i = 0; i < bars.tsMs.length; i++) {
        const tsMs = bars.tsMs[i]!;
        if (tsMs < fromMs || tsMs >= toMs) continue;
        yield { symbol, contract: contractId(contract), timeframe, ...exportedBar(bars, i) };
      }
    }
  },
};

/** The rates, in the columns of the dataset, so that an export can be ingested. */
const rates: Exporter = {
  describes: 'interest rates by date and days, in the columns that ingest reads',
  whole: true,
  columns: { date: 'text', days: 'int32', rate: 'float64' },
  async *rows(store) {
    const { allRates } = await import('../../../store/market/rates.ts');
    for (const { date, days, rate } of await allRates(store)) yield { date, days, rate };
  },
};

/** The roots, in the columns of the dataset, so that an export can be ingested. */
const roots: Exporter = {
  describes:
    'option roots, in the columns that ingest reads: stored rows, and known roots without one; --symbol: its own',
  whole: true,
  columns: {
    root: 'text',
    underlying: 'text',
    style: 'text',
    settlement: 'text',
    multiplier: 'int32',
    deliverable: 'text',
    on_forwards: 'bool',
    from: 'text',
    to: 'text',
  },
  async *rows(store, { symbol }) {
    const { storedRoots } = await import('../../../store/market/option-roots.ts');
    const stored = await storedRoots(store);
    const named = new Set(stored.map(({ root }) => root));
    const all = [...stored, ...knownRoots.filter(({ root }) => !named.has(root))];
    for (const { onForwards, ...entry } of all.toSorted((a, b) => (a.root < b.root ? -1 : a.root > b.root ? 1 : 0))) {
      if (symbol !== null && entry.underlying !== symbol) continue;
      const { root, underlying, style, settlement, multiplier, deliverable, from, to } = entry;
      yield { root, underlying, style, settlement, multiplier, deliverable, on_forwards: onForwards, from, to };
    }
  },
};

/** The splits, in the columns of the dataset, so that an export can be ingested. */
const splits: Exporter = {
  describes: 'splits, in the columns that ingest reads; of all symbols without --symbol',
  whole: true,
  columns: { symbol: 'text', ex_date: 'text', ratio: 'float64', declared: 'text' },
  async *rows(store, { symbol: asked }) {
    const { allSplits } = await import('../../../store/market/splits.ts');
    for (const { symbol, exDate, ratio, declared } of await allSplits(store, asked))
      yield { symbol, ex_date: exDate, ratio, declared };
  },
};

const barsAtOnce = 20_000;

export const stockBars: Exporter = {
  describes: 'bars of a stock; --timeframe sets their length',
  whole: false,
  columns: {
    symbol: 'text',
    ...barColumns,
  },
  async *rows(store, { symbol, timeframe, fromMs, toMs }) {
    if (symbol === null) return;
    const { readBars } = await import('../../../store/market/bar-blocks.ts');
    for (let start = fromMs; ; ) {
      const range = { fromMs: start, toMs, limit: barsAtOnce };
      const { bars: stored, more } = (await readBars(store, [symbol], timeframe, range)).get(symbol)!;
      const bars = inWholeShares(stored);
      for (let i = 0; i < bars.tsMs.length; i++) {
        yield { symbol, timeframe, ...exportedBar(bars, i) };
      }
      if (!more) return;
      start = bars.tsMs.at(-1)! + 1;
    }
  },
};

/** The symbols, in the columns of the symbol list, so that an export can be ingested. */
const symbols: Exporter = {
  describes: 'the registry and ticker directory, in the columns that ingest reads; all symbols without --symbol',
  whole: true,
  columns: {
    symbol: 'text',
    name: 'text',
    class: 'text',
    window_days: 'int32',
    tenor_frame: 'text',
    min_tier: 'text',
    requires_attestation: 'bool',
    sector: 'text',
    listed: 'bool',
    instrument_type: 'text',
  },
  async *rows(store, { symbol }) {
    const { allSymbols } = await import('../../../store/market/symbols.ts');
    for (const entry of await allSymbols(store)) {
      if (symbol !== null && entry.symbol !== symbol) continue;
      yield {
        symbol: entry.symbol,
        name: entry.name,
        class: entry.class,
        window_days: entry.windowDays,
        tenor_frame: entry.tenorFrame,
        min_tier: entry.minTier,
        requires_attestation: entry.requiresAttestation,
        sector: entry.sector,
        listed: entry.registered,
        instrument_type: entry.instrumentType,
      };
    }
  },
};

/** The days, in the columns of the dataset: what is exported here can be ingested there. */
const volatilityDays: Exporter = {
  describes:
    'implied volatility at 30 days by session, in the columns that ingest reads; of all symbols without --symbol',
  whole: true,
  columns: { symbol: 'text', date: 'text', iv30: 'float64' },
  async *rows(store, { symbol }) {
    const { allVolatilityDays } = await import('../../../store/chain/volatility-days.ts');
    for (const { symbol: of, date, iv30 } of await allVolatilityDays(store, symbol)) yield { symbol: of, date, iv30 };
  },
};

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

/** One exported row by wire name. Null = unknown. */
export type ExportRow = Record<string, Cell>;

/** Range of an export: instants are half-open [fromMs, toMs), epoch ms. */
interface ExportRange {
  /** A ticker; the underlying of options. Null = every symbol, for datasets that can be exported whole. */
  symbol: string | null;
  fromMs: number;
  toMs: number;
  timeframe: Timeframe;
}

/** Reads a dataset from the store, in bounded chunks. */
export interface Exporter {
  /** Description for `--help`. */
  describes: string;
  /** True if it can be exported without `--symbol`. */
  whole: boolean;
  /** The New York date of a row, by which files of a folder are divided; absent = they are not. */
  dateOf?: (row: ExportRow) => string;
  /** Its bar lengths; absent = all, or none applies. */
  timeframes?: readonly Timeframe[];
  /** Its columns by wire name, in order. */
  columns: Readonly<Record<string, ColumnType>>;
  rows(store: Store, range: ExportRange): AsyncIterable<ExportRow>;
}
