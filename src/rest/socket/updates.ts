import protobuf from 'protobufjs';
import { chainColumns } from '../../core/domain/chain/chain-columns.ts';
import { type Columns, restTypes } from '../../core/domain/columns.ts';
import { strikeColumns } from '../../core/domain/gex/gex-columns.ts';
import { type Timeframe, timeframeMs } from '../../core/domain/market/bar.ts';
import { epochDay } from '../../core/domain/market-time.ts';
import { type ContractIdentity, needsRoots } from '../contract/option-roots.ts';
import { int32, known, scaled, type Update, uint32 } from './frames.ts';

/** Converts the events of a subscription to updates, depending on what was sent before. */
export interface Updates<T = unknown> {
  of(data: T): Update[];
  /** Updates that are due by time alone. */
  due(nowMs: number): Update[];
}

const nothingDue = () => [];

interface QuoteData {
  spot: number | null;
  event_ts_ms: number | null;
}

/** Prices in the order of arrival; a quote with only a changed volume has none. */
function priceUpdates(
  write: (tsMs: number | undefined, scaledPrice: number | undefined) => Update,
): Updates<QuoteData> {
  let sent: QuoteData | null = null;
  return {
    of(quote) {
      const { spot, event_ts_ms: tsMs } = quote;
      const isSent = sent?.spot === spot && sent.event_ts_ms === tsMs;
      if (spot === null || isSent) return [];
      sent = quote;
      return [write(known(tsMs), scaled(spot))];
    },
    due: nothingDue,
  };
}

/** Prices as `spot`. */
export const spotUpdates = () => priceUpdates((tsMs, priceScaled) => ({ spot: { tsMs, priceScaled } }));

/** Prices of an index as `index_value`. */
export const indexUpdates = () => priceUpdates((tsMs, valueScaled) => ({ indexValue: { tsMs, valueScaled } }));

interface BarData {
  ts_ms: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

/** Late trades of a bar arrive within this time of its end, ms. */
const settlingMs = 2000;

const closeOf = ({ ts_ms: tsMs, open, high, low, close, volume }: BarData): Update => ({
  barClose: {
    tsMs,
    openScaled: scaled(open),
    highScaled: scaled(high),
    lowScaled: scaled(low),
    closeScaled: scaled(close),
    volume: uint32(volume),
  },
});

/** Bars: `bar_open` when one begins, `bar_close` when it is complete, and again when it changes after that. */
export function barUpdates(timeframe: Timeframe, now: () => number): Updates<BarData> {
  let open: BarData | null = null;
  const endOf = ({ ts_ms: tsMs }: BarData) => tsMs + timeframeMs[timeframe];
  const take = (): Update[] => {
    const closed = open;
    open = null;
    return closed ? [closeOf(closed)] : [];
  };
  return {
    of(bar) {
      if (open && bar.ts_ms < open.ts_ms) return [closeOf(bar)];
      const before = open && bar.ts_ms > open.ts_ms ? take() : [];
      if (endOf(bar) + settlingMs <= now()) {
        open = null;
        return [...before, closeOf(bar)];
      }
      const isNew = open === null;
      open = bar;
      return isNew ? [...before, { barOpen: { tsMs: bar.ts_ms, openScaled: scaled(bar.open) } }] : before;
    },
    due: (nowMs) => (open && endOf(open) + settlingMs <= nowMs ? take() : []),
  };
}

/** Sent rows by key, each with the text that is compared. */
type Sent = ReadonlyMap<string, string>;

/** The rows that differ from those sent before; null if all must be sent, because some were removed. */
function changedRows<T>(before: Sent | null, now: Sent, rows: ReadonlyMap<string, T>): T[] | null {
  if (before === null || [...before.keys()].some((key) => !now.has(key))) return null;
  return [...rows].flatMap(([key, row]) => (before.get(key) === now.get(key) ? [] : [row]));
}

/** Numbers of a row by their names in REST. */
type Numbers = Readonly<Record<string, number | null>>;

/** The form of rows in frames, where whole numbers are int32, and in comparisons with those sent before. */
function frameNumbers(columns: Columns) {
  const types = Object.entries(restTypes(columns));
  const fields = types.map(([name, type]) => [protobuf.util.camelCase(name), name, type === 'float64'] as const);
  return {
    fieldsOf: (row: Numbers) =>
      Object.fromEntries(
        fields.map(([field, name, isFloat]) => [field, isFloat ? known(row[name]!) : int32(row[name]!)]),
      ),
    textOf: (row: Numbers) => types.map(([name]) => row[name]).join(' '),
  };
}

interface GexData {
  captured_at: number;
  spot: number | null;
  net_gex: number;
  strikes: readonly (Numbers & { strike: number })[];
}

const { gex, callOi, putOi } = strikeColumns;
const snapNumbers = frameNumbers({ gex, callOi, putOi });
const deltaNumbers = frameNumbers({ gex });

/**
 * Captures of dealer gamma: the first as `gex_snap`, then changes as `gex_delta`; a snapshot again if strikes were
 * removed.
 */
export function gexUpdates(): Updates<GexData> {
  let sent: Sent | null = null;
  return {
    of({ captured_at: capturedAtMs, spot, net_gex: netGex, strikes }) {
      const rows = new Map(strikes.map((row) => [String(row.strike), row]));
      const now = new Map(strikes.map((row) => [String(row.strike), deltaNumbers.textOf(row)]));
      const changed = changedRows(sent, now, rows);
      sent = now;
      const written = (of: GexData['strikes'], { fieldsOf }: typeof snapNumbers) =>
        of.map((row) => ({ strikeThousandths: row.strike, ...fieldsOf(row) }));
      if (changed) return [{ gexDelta: { capturedAtMs, strikes: written(changed, deltaNumbers) } }];
      return [{ gexSnap: { capturedAtMs, spot: known(spot), netGex, strikes: written(strikes, snapNumbers) } }];
    },
    due: nothingDue,
  };
}

interface ChainData {
  captured_at: number;
  spot: number | null;
  rows: readonly { contract: ContractIdentity }[];
}

const { bid, ask, iv, openInterest } = chainColumns;
const chainNumbers = frameNumbers({ bid, ask, iv, openInterest });
/** The numbers of a chain's row are beside its contract. */
const numbersOf = (row: ChainData['rows'][number]) => row as unknown as Numbers;

const chainRow = (withRoot: boolean) => (row: ChainData['rows'][number]) => {
  const { underlying, expiry, right, strike } = row.contract;
  return {
    ...{ expiryEpochDay: epochDay(expiry), right: right === 'put' ? 1 : 0, strikeThousandths: strike },
    ...chainNumbers.fieldsOf(numbersOf(row)),
    ...(withRoot && { root: underlying }),
  };
};

/**
 * Chains: the first as `chain_snap`, then changes as `chain_delta`; a snapshot again if contracts were removed, or rows
 * begin or cease to contain their root.
 */
export function chainUpdates(): Updates<ChainData> {
  let sent: { rows: Sent; withRoot: boolean } | null = null;
  return {
    of({ captured_at: capturedAtMs, spot, rows }) {
      const keyOf = ({ contract: { underlying, expiry, right, strike } }: ChainData['rows'][number]) =>
        `${underlying} ${expiry} ${right} ${strike}`;
      const byKey = new Map(rows.map((row) => [keyOf(row), row]));
      const now = new Map(rows.map((row) => [keyOf(row), chainNumbers.textOf(numbersOf(row))]));
      const withRoot = needsRoots(rows.map(({ contract }) => contract));
      const changed = changedRows(sent?.withRoot === withRoot ? sent.rows : null, now, byKey);
      sent = { rows: now, withRoot };
      if (changed) return [{ chainDelta: { capturedAtMs, rows: changed.map(chainRow(withRoot)) } }];
      return [{ chainSnap: { capturedAtMs, spot: known(spot), rows: rows.map(chainRow(withRoot)) } }];
    },
    due: nothingDue,
  };
}
