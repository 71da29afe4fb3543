import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { chainColumns } from '../../core/domain/chain/chain-columns.ts';
import { type Column, type Columns, restNames } from '../../core/domain/columns.ts';
import { strikeColumns } from '../../core/domain/gex/gex-columns.ts';
import { barNumbers } from '../../core/domain/market/bar-columns.ts';
import { epochDay } from '../../core/domain/market-time.ts';
import type { OffExchangeTable } from '../../core/domain/offexchange/off-exchange.ts';
import { offExchangeColumns } from '../../core/domain/offexchange/off-exchange-columns.ts';
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { type ContractIdentity, needsRoots } from './option-roots.ts';

/** The schema of the protobuf bodies, served verbatim. */
export const protocolSource = readFileSync(new URL('../../../proto/rest-protocol.proto', import.meta.url), 'utf8');

const { root } = protobuf.parse(protocolSource);
const packageName = 'tapegraph.rest.v2';

type Wire = Record<string, unknown>;
type Row = Record<string, number | string | null | undefined>;

/** An operation's answer before the envelope. */
interface Answer {
  data: unknown;
  meta: Record<string, unknown>;
  [more: string]: unknown;
}

/** Protobuf form of a route's answer: fields of the message, and its one list of rows. */
export interface ProtobufMessage {
  name: string;
  /** The fields beside the rows. */
  fields: (answer: Answer) => Wire;
  rowsField: string;
  rows: (answer: Answer) => readonly Row[];
  /** Converts a row of this answer to its message. */
  rowOf: (answer: Answer) => (row: Row) => Wire;
}

/** Number of rows encoded per iteration of the event loop: some milliseconds of work. */
const rowsPerYield = 2000;

/**
 * The bytes of a message: its fields, then its rows. Concatenated protobuf messages are one message, so rows are
 * encoded in chunks, with yields to the event loop in between.
 */
export async function encodeMessage(message: ProtobufMessage, answer: Answer): Promise<Buffer> {
  const type = root.lookupType(`${packageName}.${message.name}`);
  const parts = [type.encode(message.fields(answer)).finish()];
  const [rows, rowOf] = [message.rows(answer), message.rowOf(answer)];
  for (let start = 0; start < rows.length; start += rowsPerYield) {
    if (start > 0) await yieldToEventLoop();
    const part = rows.slice(start, start + rowsPerYield).map(rowOf);
    parts.push(type.encode({ [message.rowsField]: part }).finish());
  }
  return Buffer.concat(parts);
}

/** Omits unknown values: in protobuf, optional fields stay unset. */
function known(fields: Record<string, unknown>): Wire {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

const uint32Max = 0xffffffff;
const sint32Max = 0x7fffffff;

/** 10000 unless a price does not fit a sint32 at that scale; then the largest power of ten at which all do. */
function priceScale(prices: Iterable<number>): number {
  let highest = 0;
  for (const price of prices) highest = Math.max(highest, Math.abs(price));
  let scale = 10_000;
  while (scale > 1 && Math.round(highest * scale) > sint32Max) scale /= 10;
  return scale;
}

/** Price scale of one answer: 10000 to the dollar if all prices fit. */
function barScale({ data, prior_close: priorClose }: Answer): number {
  const highs = (data as Row[]).map((bar) => bar.high as number);
  return priceScale(typeof priorClose === 'number' ? [...highs, priorClose] : highs);
}

/** Sets the fields of a message that columns have in it, of what is known of a row under the names of REST. */
function setColumns(message: string, columns: Columns): (into: Wire, row: Row, scale?: number) => Wire {
  const { fields } = root.lookupType(`${packageName}.${message}`);
  const names = restNames(columns);
  const set = Object.values<Column>(columns).map(({ protobuf: own }, i) => {
    const field = protobuf.util.camelCase(own ?? names[i]!);
    return { name: names[i]!, field, type: fields[field]?.type };
  });
  return (into, row, scale = 1) => {
    for (const { name, field, type } of set) {
      const value = row[name];
      if (value === null || value === undefined || (type === 'uint32' && (value as number) > uint32Max)) continue;
      into[field] = type === 'sint32' ? Math.round((value as number) * scale) : value;
    }
    return into;
  };
}

const setBar = setColumns('Bar', barNumbers);

const scaled = (price: unknown, scale: number) => (typeof price === 'number' ? Math.round(price * scale) : null);

/** `BarsResponse` of stock bars. */
export const barsResponse: ProtobufMessage = {
  name: 'BarsResponse',
  fields: (answer) => {
    const scale = barScale(answer);
    return known({
      priceScale: scale,
      completeThroughMs: answer.meta.complete_through,
      priorCloseScaled: scaled(answer.prior_close, scale),
      cursor: answer.meta.cursor ?? '',
    });
  },
  rowsField: 'bars',
  rows: ({ data }) => data as Row[],
  rowOf: (answer) => {
    const scale = barScale(answer);
    return (bar) => setBar({}, bar, scale);
  },
};

/** `OffExchangeActivityResponse` and those of the other tables. */
export function offExchangeResponse(table: OffExchangeTable): ProtobufMessage {
  const name = `OffExchange${table[0]!.toUpperCase()}${table.slice(1)}`;
  const setRow = setColumns(`${name}Row`, offExchangeColumns[table]);
  return {
    name: `${name}Response`,
    fields: () => ({}),
    rowsField: 'rows',
    rows: ({ data }) => data as Row[],
    rowOf: () => (row) => setRow({}, row),
  };
}

const setChainColumns = setColumns('ChainRow', chainColumns);

const chainRows = ({ data }: Answer) => (data as { rows: { contract: ContractIdentity }[] }).rows;

/** `ChainResponse`. */
export const chainResponse: ProtobufMessage = {
  name: 'ChainResponse',
  fields: ({ data }) => {
    const { captured_at: capturedAtMs, spot, partial } = data as Row & { partial: boolean };
    return known({ capturedAtMs, spot, partial });
  },
  rowsField: 'rows',
  rows: (answer) => chainRows(answer) as unknown as Row[],
  rowOf: (answer) => {
    const withRoot = needsRoots(chainRows(answer).map(({ contract }) => contract));
    return (row) => {
      const { underlying, expiry, right, strike } = row.contract as unknown as ContractIdentity;
      const contract = { expiryEpochDay: epochDay(expiry), right: right === 'put' ? 1 : 0, strikeThousandths: strike };
      return setChainColumns({ ...contract, ...(withRoot && { root: underlying }) }, row);
    };
  },
};

const setStrikeColumns = setColumns('GexGridRow', strikeColumns);

/** `GexGridResponse`. */
export const gexGridResponse: ProtobufMessage = {
  name: 'GexGridResponse',
  fields: ({ data }) => {
    const grid = data as Row;
    return known({
      capturedAtMs: grid.captured_at,
      spot: grid.spot,
      priorCloseSpot: grid.prior_close_spot,
      netGex: grid.net_gex,
      flipPoint: grid.flip_point,
      maxAbsGex: grid.max_abs_gex,
      adhoc: grid.adhoc,
      netGexShares: grid.net_gex_shares,
      maxAbsGexShares: grid.max_abs_gex_shares,
    });
  },
  rowsField: 'rows',
  rows: ({ data }) => (data as { strikes: Row[] }).strikes,
  rowOf: () => (row) =>
    setStrikeColumns(
      known({
        strikeThousandths: row.strike,
        expiryEpochDay: typeof row.expiry === 'string' ? epochDay(row.expiry) : null,
        gexShares: row.gex_shares,
        gex_0dteShares: row.gex_0dte_shares,
        deltaAdjShares: row.delta_adj_shares,
      }),
      row,
    ),
};
