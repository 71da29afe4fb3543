import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';

/** The schema of the protobuf bodies, served verbatim. */
export const protocolSource = readFileSync(new URL('../../proto/rest-protocol.proto', import.meta.url), 'utf8');

const { root } = protobuf.parse(protocolSource);
const packageName = 'tapegraph.rest.v2';

type Wire = Record<string, unknown>;
type Row = Record<string, number | string | null | undefined>;

/** How a route's answer becomes a protobuf body. `data` and `extra` are the operation's answer before the envelope. */
export interface ProtobufMessage {
  name: string;
  body: (answer: { data: unknown; meta: Record<string, unknown>; [more: string]: unknown }) => Wire;
}

/** The bytes of a message. */
export function encodeMessage(message: ProtobufMessage, answer: Parameters<ProtobufMessage['body']>[0]): Uint8Array {
  return root.lookupType(`${packageName}.${message.name}`).encode(message.body(answer)).finish();
}

/** Leaves out what is unknown: an unset optional field, in protobuf's words. */
function known(fields: Record<string, unknown>): Wire {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

const uint32Max = 0xffffffff;
const sint32Max = 0x7fffffff;

/** A count that does not fit uint32 is left unset; JSON carries it. */
function fitting(value: unknown): number | null {
  return typeof value === 'number' && value <= uint32Max ? value : null;
}

/** 10000 unless a price does not fit a sint32 at that scale; then the largest power of ten at which all do. */
function priceScale(prices: Iterable<number>): number {
  let highest = 0;
  for (const price of prices) highest = Math.max(highest, Math.abs(price));
  let scale = 10_000;
  while (scale > 1 && Math.round(highest * scale) > sint32Max) scale /= 10;
  return scale;
}

/** `BarsResponse` of stock bars. */
export const barsResponse: ProtobufMessage = {
  name: 'BarsResponse',
  body: ({ data, meta, prior_close: priorClose }) => {
    const bars = data as {
      ts_ms: number;
      open: number;
      high: number;
      low: number;
      close: number;
      volume: number;
      vwap: number | null;
      trade_count: number | null;
    }[];
    const scale = priceScale([...bars.map((bar) => bar.high), (priorClose as number | null) ?? 0]);
    const scaled = (price: unknown) => (typeof price === 'number' ? Math.round(price * scale) : null);
    return known({
      priceScale: scale,
      completeThroughMs: meta.complete_through,
      priorCloseScaled: scaled(priorClose),
      bars: bars.map((bar) =>
        known({
          tsMs: bar.ts_ms,
          o: scaled(bar.open),
          h: scaled(bar.high),
          l: scaled(bar.low),
          c: scaled(bar.close),
          v: fitting(bar.volume),
          vwap: scaled(bar.vwap),
          n: fitting(bar.trade_count),
        }),
      ),
      cursor: meta.cursor ?? '',
    });
  },
};

/** A message of `rows` whose fields are the JSON rows' under other names: `[protobuf field, JSON key]`. */
function rowsResponse(name: string, fields: readonly (readonly [string, string])[]): ProtobufMessage {
  return {
    name,
    body: ({ data }) => ({
      rows: (data as Row[]).map((row) => known(Object.fromEntries(fields.map(([field, key]) => [field, row[key]])))),
    }),
  };
}

/** `OffExchangeActivityResponse`. */
export const activityResponse = rowsResponse('OffExchangeActivityResponse', [
  ['date', 'date'],
  ['offExchangeVolume', 'off_exch_volume'],
  ['notional', 'notional'],
  ['tradeCount', 'trade_count'],
  ['averageSize', 'avg_size'],
  ['vwap', 'vwap'],
  ['offExchangeShare', 'off_exch_pct'],
  ['consolidatedVolume', 'consolidated_volume'],
  ['consolidatedNotional', 'consolidated_notional'],
]);

/** `OffExchangeConcentrationResponse`. */
export const concentrationResponse = rowsResponse('OffExchangeConcentrationResponse', [
  ['date', 'date'],
  ['bucketMidpoint', 'bucket_midpoint'],
  ['bucketWidth', 'bucket_width'],
  ['volume', 'volume'],
  ['notional', 'notional'],
  ['tradeCount', 'trade_count'],
  ['distinctSessions', 'distinct_sessions'],
  ['rankScore', 'rank_score'],
  ['rank', 'rank'],
  ['bucketCount', 'bucket_count'],
  ['distanceBps', 'distance_bps'],
  ['lookbackSessions', 'lookback_sessions'],
]);

/** `OffExchangeProfileResponse`. */
export const profileResponse = rowsResponse('OffExchangeProfileResponse', [
  ['date', 'date'],
  ['priceThousandths', 'price_thousandths'],
  ['volume', 'volume'],
  ['notional', 'notional'],
  ['tradeCount', 'trade_count'],
]);

/** `OffExchangeCompositionResponse`. */
export const compositionResponse = rowsResponse('OffExchangeCompositionResponse', [
  ['date', 'date'],
  ['category', 'category'],
  ['volume', 'volume'],
  ['notional', 'notional'],
  ['tradeCount', 'trade_count'],
  ['shareOfOffExchangeNotional', 'share_of_off_exch_notional'],
]);
