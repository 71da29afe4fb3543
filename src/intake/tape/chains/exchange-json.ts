import type { ChainRow } from '../../../core/domain/chain/chain.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import { exchangeOffsetMs, isDate } from '../../../core/domain/market-time.ts';
import { minuteMs } from '../../../platform/runtime/clock.ts';
import { type OnBadLine, type OnBytes, readBytes, TapeFileError } from '../csv/tape-file.ts';
import { isBlank, readGroupedNumber } from '../csv/values.ts';
import type { Format } from '../formats/format.ts';
import {
  assembleChain,
  type ChainHeader,
  chainRows,
  NoChainError,
  priorClose,
  type ReadChain,
  readContractCell,
} from './chain-rows.ts';

/** The exchange's delayed-quote JSON: `{"timestamp": …, "data": {"options": […]}}`. */
export const exchangeJson = {
  name: 'exchange-json',
  content: 'the exchange’s delayed-quote JSON',
  datasets: ['chain'],
  required: ['timestamp', 'data'],
  time: { column: 'timestamp', unit: 'stamp' },
  // The same delay as for its page.
  delayMs: 15 * minuteMs,
  symbols: { column: 'option', spelling: 'osi' },
  /** Key of the chain, beside its options, and of each option. */
  tradeTime: 'last_trade_time',
  /** Key of the chain. */
  spot: 'current_price',
  priorClose: 'prev_day_close',
  change: 'price_change',
  /** Keys of an option. */
  columns: {
    last: 'last_trade_price',
    bid: 'bid',
    ask: 'ask',
    volume: 'volume',
    iv: 'iv',
    delta: 'delta',
    gamma: 'gamma',
    openInterest: 'open_interest',
    theta: 'theta',
    vega: 'vega',
    fmv: 'theo',
  },
} as const satisfies Format & Record<string, unknown>;

const { columns, delayMs, tradeTime, spot: spotColumn, priorClose: priorColumn, change: changeColumn } = exchangeJson;
const chainRow = chainRows(Object.keys(columns) as (keyof typeof columns)[]);

// A chain of 100,000 contracts is 35 MB; a larger text is not a chain.
const maxBytes = 256 * 1024 * 1024;

interface JsonOption {
  option: string;
  [name: string]: unknown;
}

interface JsonChain {
  timestamp: string;
  data: { options: (JsonOption | null)[]; [name: string]: unknown };
}

async function wholeFile(path: string, onBytes?: OnBytes): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of readBytes(path, onBytes)) {
    parts.push(part);
    length += part.length;
    if (length > maxBytes) throw new TapeFileError(path, `over ${maxBytes} bytes`);
  }
  return Buffer.concat(parts);
}

function parseJson(path: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  } catch (cause) {
    throw new TapeFileError(path, `not complete JSON (${(cause as Error).message})`, { cause });
  }
}

function isChain(value: unknown): value is JsonChain {
  const chain = value as Partial<JsonChain> | null;
  return typeof chain?.timestamp === 'string' && Array.isArray(chain.data?.options);
}

const stamp = /^(\d{4}-\d{2}-\d{2})[ T]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?(?:(Z)|([+-]\d{2}):?([0-5]\d))?$/;

/** A stamp read in UTC: epoch ms, and whether it contains its offset. */
interface Stamp {
  utc: number;
  hasOffset: boolean;
}

/** Parses a whole stamp, in UTC unless it has an offset; null if invalid. */
function readStamp(text: unknown): Stamp | null {
  const [, date, time, fraction = '', z, hours, minutes] = (typeof text === 'string' && stamp.exec(text)) || [];
  if (date === undefined || !isDate(date)) return null;
  const offset = hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const utc = Date.parse(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`);
  return Number.isNaN(utc) ? null : { utc, hasOffset: (z ?? hours) !== undefined };
}

/** Epoch ms of a stamp, in New York time unless it has an offset; NaN without one. */
function exchangeStamp(read: Stamp | null): number {
  if (read === null) return Number.NaN;
  return read.hasOffset ? read.utc : read.utc - exchangeOffsetMs(read.utc - exchangeOffsetMs(read.utc));
}

/**
 * Thrown for an invalid value of a key; the message is the reason. Inside a chain it concerns an option, else the file.
 */
class BadKey extends Error {}

/** A number, quoted or not; NaN for null, an absent key, or a text for no value. Throws `BadKey`. */
function numberOf(object: Readonly<Record<string, unknown>>, key: string): number {
  const value = object[key] ?? Number.NaN;
  if (typeof value === 'number') return Number.isFinite(value) ? value : Number.NaN;
  if (typeof value === 'string') {
    const text = value.trim();
    const read = readGroupedNumber(text);
    if (isBlank(text) || !Number.isNaN(read)) return read;
  }
  throw new BadKey(`${key}: expected a number, got ${JSON.stringify(value).slice(0, 60)}`);
}

/**
 * Time of the chain. `timestamp` is UTC and `last_trade_time` New York's: in the real file, read so, the first is 23:17
 * of the evening and the last trade 16:14 of the same session; and the exchange's data of one instant in session has
 * the two apart by New York's offset. A chain cannot contain a trade later than itself: if the stamp read as UTC
 * implies one, it is New York time. A stamp with an offset is unambiguous.
 */
function capturedAtOf(path: string, chain: JsonChain): number {
  const taken = readStamp(chain.timestamp);
  if (taken === null) {
    const got = JSON.stringify(chain.timestamp);
    throw new TapeFileError(path, `timestamp: expected YYYY-MM-DD HH:MM:SS, perhaps with an offset, got ${got}`);
  }
  if (taken.hasOffset) return taken.utc;
  let newestTrade = exchangeStamp(readStamp(chain.data[tradeTime]));
  for (const option of chain.data.options) {
    const trade = exchangeStamp(readStamp(option?.[tradeTime]));
    if (!(trade <= newestTrade)) newestTrade = Number.isNaN(trade) ? newestTrade : trade;
  }
  return newestTrade > taken.utc ? exchangeStamp(taken) : taken.utc;
}

/** The row of an option. Throws `BadKey`. */
function rowOf(option: JsonOption | null): ChainRow {
  const contract = typeof option?.option === 'string' ? readContractCell(option.option) : null;
  if (!option || contract === null)
    throw new BadKey(`option: expected a contract, got ${JSON.stringify(option?.option ?? null).slice(0, 60)}`);
  return chainRow(contract, (name) => numberOf(option, columns[name]));
}

/** The underlying's price and its close before, null = unknown. Throws `TapeFileError`. */
function spotsOf(path: string, data: JsonChain['data']): Pick<ChainHeader, 'spot' | 'priorCloseSpot'> {
  try {
    const spot = numberOf(data, spotColumn);
    const prior = numberOf(data, priorColumn);
    const change = numberOf(data, changeColumn);
    return {
      spot: spot > 0 ? spot : null,
      priorCloseSpot: prior > 0 ? prior : spot > 0 && !Number.isNaN(change) ? priorClose(spot, change) : null,
    };
  } catch (error) {
    throw error instanceof BadKey ? new TapeFileError(path, error.message) : error;
  }
}

/**
 * Reads a whole chain from the bytes of the exchange's delayed-quote JSON; `path` names them in messages. Index
 * products are named `_SPX` and `^SPX`; the underlying follows from the contracts' roots, as for CSV. theta is dollars
 * per day and vega dollars per vol point here, as in the service. An invalid option is reported to `onBadLine` with its
 * position in the list as the line, and makes the capture partial. Throws `TapeFileError`.
 */
export function parseChainJson(path: string, bytes: Buffer, onBadLine: OnBadLine, roots?: OptionRoots): ReadChain {
  const chain = parseJson(path, bytes);
  if (!isChain(chain))
    throw new NoChainError(path, 'expected {"timestamp": …, "data": {"options": […]}}', bytes.toString('utf8', 0, 200));
  let broken = false;
  const rows = chain.data.options.flatMap((option, i) => {
    try {
      return rowOf(option);
    } catch (error) {
      if (!(error instanceof BadKey)) throw error;
      broken = true;
      onBadLine({ file: path, line: i + 1, reason: error.message });
      return [];
    }
  });
  const times = { capturedAt: capturedAtOf(path, chain), delayMs };
  const header = { ...times, ...spotsOf(path, chain.data), partial: broken };
  const capture = assembleChain(path, rows, header, roots);
  return { capture, halfLines: [], headerLines: null };
}

/** Reads a whole chain from a file of the exchange's delayed-quote JSON, like `parseChainJson`. */
export async function readChainJson(
  path: string,
  onBadLine: OnBadLine,
  onBytes?: OnBytes,
  roots?: OptionRoots,
): Promise<ReadChain> {
  return parseChainJson(path, await wholeFile(path, onBytes), onBadLine, roots);
}
