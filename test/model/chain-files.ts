// Chains as vendors write them: parts of a page, in each vendor's format, with the defects of a catalogue.
import { createHash } from 'node:crypto';
import { type Random, randomOf, shuffled } from '../support/random.ts';
import { dateOf, minute, newYorkTime } from './calendar.ts';
import { type ChainLine, knownTerms } from './chains.ts';
import { type Contract, contractPath, hashOf } from './world.ts';

/** A part of a page, as it is downloaded. */
export interface ChainPart {
  underlying: string;
  /** Time of the quotes, epoch ms, on a whole second. */
  ms: number;
  spot: number | null;
  priorClose: number | null;
  lines: readonly ChainLine[];
}

/** Content of a file. */
export interface SourceChain {
  underlying: string;
  /** Time of the page, and how much older its quotes are, ms. */
  capturedAt: number;
  delayMs: number;
  spot: number | null;
  priorCloseSpot: number | null;
  /** True if a line of it cannot be used. */
  partial: boolean;
  lines: readonly ChainLine[];
  /** SHA-256 of its content. */
  hash: string;
}

export interface ChainFile {
  name: string;
  bytes: Buffer;
  /** Chains of its underlyings, by name; none if the file must be refused. */
  chains: readonly SourceChain[];
  /** Number of bad lines. */
  badLines: number;
}

type Numbers = 'openInterest' | 'volume' | 'last' | 'fmv' | 'iv' | 'delta' | 'gamma' | 'theta' | 'vega';

/** A part as text, and what the text says. */
interface Written extends Pick<SourceChain, 'capturedAt' | 'delayMs' | 'spot' | 'priorCloseSpot'> {
  text: string;
  ending: string;
  /** Numbers that the format has beside bid and ask. */
  has: readonly Numbers[];
  shares?: number;
  /** Lines as the format changes them; as given if absent. */
  lines?: readonly ChainLine[];
}

const osi = (contract: Contract) => contractPath(contract).slice(2);
const iso = (ms: number) => new Date(ms).toISOString();
const local = (ms: number) => iso(newYorkTime(ms)).slice(0, 19);
const nanos = (ms: number) => `${ms}000000`;
const vendorDelay = 15 * minute;
/** JSON with numbers of more digits than doubles have: strings of nanoseconds lose their quotes. */
const exact = (value: object) => JSON.stringify(value).replaceAll(/"(\d{17,})"/g, '$1');

const months = 'January February March April May June July August September October November December'.split(' ');

function pageDate(ms: number): string {
  const at = new Date(newYorkTime(ms));
  const [hour, of] = [at.getUTCHours(), String(at.getUTCMinutes()).padStart(2, '0')];
  const clock = `${hour % 12 || 12}:${of} ${hour < 12 ? 'AM' : 'PM'}`;
  const zone = newYorkTime(ms) - ms === -4 * 60 * minute ? 'EDT' : 'EST';
  return `${months[at.getUTCMonth()]} ${at.getUTCDate()}, ${at.getUTCFullYear()} at ${clock} ${zone}`;
}

/** The contracts of a part by root, expiry and strike: a call, a put, or both; what is repeated makes further ones. */
const pairsOf = (lines: readonly ChainLine[]) =>
  [...Map.groupBy(lines, ({ root, expiry, strike }) => `${root} ${expiry} ${strike}`).values()].flatMap((sides) => {
    const [calls, puts] = [sides.filter(({ right }) => right === 'call'), sides.filter(({ right }) => right === 'put')];
    const length = Math.max(calls.length, puts.length);
    return Array.from({ length }, (_, i) => ({ any: sides[0]!, call: calls[i], put: puts[i] }));
  });

function exchangePage({ ms, spot, priorClose, lines, underlying }: ChainPart, random: Random): Written {
  const [none, capturedAt] = [random.pick(['', '--']), Math.floor(ms / minute) * minute + vendorDelay];
  const change = spot === null || priorClose === null ? null : Math.round(100 * (spot - priorClose)) / 100;
  const header = 'Last Sale,Net,Bid,Ask,Volume,IV,Delta,Gamma,Open Interest';
  const side = (line: ChainLine | undefined) =>
    line
      ? [line.last ?? 0, 0, line.bid ?? 0, line.ask ?? 0, line.volume, line.iv ?? 0, line.delta, line.gamma]
          .concat([line.openInterest])
          .map((value) => value ?? none)
      : Array(9).fill('');
  const rows = pairsOf(lines).map(({ any, call, put }) =>
    [any.expiry, call ? osi(call) : '', ...side(call), any.strike / 1000, put ? osi(put) : '', ...side(put)].join(),
  );
  const text = [
    `${underlying} CHAIN,Last: ${spot ?? none},Change: ${change ?? none}`,
    `"Date: ${pageDate(capturedAt)}",Bid: 1,Ask: 2,Size: 1*1,Volume: 0`,
    `Expiration Date,Calls,${header},Strike,Puts,${header}`,
    ...rows,
  ].join('\n');
  const priorCloseSpot = spot === null || change === null ? null : priorClose;
  const has = ['openInterest', 'volume', 'last', 'iv', 'delta', 'gamma'] as const;
  return { text, ending: 'csv', capturedAt, delayMs: vendorDelay, spot, priorCloseSpot, has };
}

/** A key that is absent, or null, where a number is unknown. */
const keyed = (numbers: Record<string, number | null>, random: Random) =>
  Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== null || random.once(2)));

function exchangeJson({ ms, spot, priorClose, lines, underlying }: ChainPart, random: Random): Written {
  const capturedAt = ms + vendorDelay;
  const options = lines.map((line) => {
    const { bid, ask, iv, volume, delta, gamma, theta, vega, last, openInterest, fmv } = line;
    const numbers = { iv, open_interest: openInterest, volume, delta, gamma, theta, vega, last_trade_price: last };
    return { option: osi(line), bid: bid ?? 0, ask: ask ?? 0, ...keyed({ ...numbers, theo: fmv }, random) };
  });
  const data = { symbol: `_${underlying}`, ...keyed({ current_price: spot, prev_day_close: priorClose }, random) };
  const text = JSON.stringify({
    timestamp: iso(capturedAt).slice(0, 19).replace('T', ' '),
    data: { ...data, options },
  });
  const has = ['openInterest', 'volume', 'last', 'fmv', 'iv', 'delta', 'gamma', 'theta', 'vega'] as const;
  return { text, ending: 'json', capturedAt, delayMs: vendorDelay, spot, priorCloseSpot: priorClose, has };
}

function massive({ ms, spot, lines, underlying }: ChainPart, random: Random): Written {
  const price = underlying === 'SPX' ? 'value' : 'price';
  const results = lines.map((line) => {
    const { bid, ask, iv, volume, delta, gamma, theta, vega, last, openInterest, fmv } = line;
    const trade =
      last === null ? {} : { last_trade: { price: last, sip_timestamp: nanos(ms - random.below(900_000)) } };
    return {
      details: { ticker: contractPath(line), contract_type: line.right, shares_per_contract: 100 },
      greeks: keyed({ delta, gamma, theta, vega }, random),
      open_interest: openInterest,
      ...keyed({ implied_volatility: iv, fmv }, random),
      last_quote: { bid: bid ?? 0, ask: ask ?? 0, last_updated: nanos(ms - random.below(30_000)) },
      day: volume === null ? {} : { volume, last_updated: nanos(ms) },
      ...trade,
      underlying_asset: { ticker: underlying, ...(spot !== null && { [price]: spot }), last_updated: nanos(ms) },
    };
  });
  const half = random.once(3) ? Math.ceil(results.length / 2) : results.length;
  const next = 'https://api.massive.com/v3/snapshot/options/X?cursor=1';
  const parts = [results.slice(0, half), results.slice(half)].filter((part, i) => i === 0 || part.length > 0);
  const text = parts
    .map((part, i) => exact({ status: 'OK', results: part, ...(i < parts.length - 1 && { next_url: next }) }))
    .join('\n');
  const has = ['openInterest', 'volume', 'last', 'fmv', 'iv', 'delta', 'gamma', 'theta', 'vega'] as const;
  return { text, ending: 'json', capturedAt: ms, delayMs: 0, spot, priorCloseSpot: null, has, shares: 100 };
}

function tradier({ ms, lines }: ChainPart, random: Random): Written {
  const options = lines.map((line, i) => {
    const { bid, ask, iv, volume, delta, gamma, theta, vega, last, openInterest } = line;
    const greeks = { ...keyed({ delta, gamma, theta, vega, mid_iv: iv }, random), updated_at: iso(ms).slice(0, 19) };
    const at = i === 0 ? ms : ms - random.below(60) * 1000;
    return {
      symbol: osi(line),
      root_symbol: line.root,
      bid,
      ask,
      last,
      volume,
      open_interest: openInterest,
      bid_date: at,
      ask_date: at,
      trade_date: 0,
      contract_size: 100,
      greeks: { ...greeks, updated_at: greeks.updated_at.replace('T', ' ') },
    };
  });
  const expiries = [...Map.groupBy(options, ({ symbol }) => symbol.slice(0, -9)).values()];
  const text = (expiries.length === 0 ? [[]] : expiries)
    .map((option) => JSON.stringify({ options: { option } }))
    .join('\n');
  const has = ['openInterest', 'volume', 'last', 'iv', 'delta', 'gamma', 'theta', 'vega'] as const;
  return { text, ending: 'json', capturedAt: ms, delayMs: 0, spot: null, priorCloseSpot: null, has, shares: 100 };
}

const oratsColumns = [
  ...['ticker', 'tradeDate', 'expirDate', 'expiryTod', 'strike', 'stockPrice', 'spotPrice', 'quoteDate'],
  ...['callVolume', 'callOpenInterest', 'callBidPrice', 'callValue', 'callAskPrice', 'putBidPrice', 'putValue'],
  ...['putAskPrice', 'putVolume', 'putOpenInterest', 'callMidIv', 'putMidIv', 'delta', 'gamma', 'theta', 'vega'],
];

function orats({ ms, spot, lines, underlying }: ChainPart): Written {
  const read: ChainLine[] = [];
  // It has tickers, and so no adjusted roots.
  const standard = lines.filter(({ root }) => knownTerms[root]?.multiplier !== null);
  const rows = pairsOf(standard).map(({ any, call, put }) => {
    // A row is a call and a put, and its greeks are the call's.
    const greeks = { delta: call?.delta ?? null, gamma: call?.gamma ?? null, vega: call?.vega ?? null };
    for (const right of ['call', 'put'] as const) {
      const own = right === 'call' ? call : put;
      const { openInterest = null, volume = null, bid = null, ask = null, fmv = null, iv = null } = own ?? {};
      const delta = right === 'call' || greeks.delta === null ? greeks.delta : Number((greeks.delta - 1).toFixed(12));
      const theta = right === 'call' ? (call?.theta ?? null) : null;
      const numbers = { openInterest, volume, bid, ask, last: null, fmv, iv, ...greeks, delta, theta };
      read.push({ ...any, right, ...numbers, sharesPerContract: null });
    }
    const tod = knownTerms[any.root]?.settlement;
    return [
      ...[underlying, dateOf(ms), any.expiry, tod, any.strike / 1000, spot, spot, iso(ms).replace('.000Z', 'Z')],
      ...[call?.volume, call?.openInterest, call?.bid, call?.fmv, call?.ask, put?.bid, put?.fmv, put?.ask],
      ...[put?.volume, put?.openInterest, call?.iv, put?.iv, greeks.delta, greeks.gamma, call?.theta, greeks.vega],
    ]
      .map((value) => value ?? '')
      .join();
  });
  const has = ['openInterest', 'volume', 'fmv', 'iv', 'delta', 'gamma', 'theta', 'vega'] as const;
  const text = [oratsColumns.join(), ...rows].join('\n');
  return { text, ending: 'csv', capturedAt: ms, delayMs: 0, spot, priorCloseSpot: null, has, lines: read };
}

function theta({ ms, spot, lines }: ChainPart): Written {
  const columns =
    'symbol,expiration,strike,right,timestamp,bid,ask,delta,implied_vol,underlying_timestamp,underlying_price';
  const rows = lines.map(({ root, expiry, strike, right, bid, ask, delta, iv }) =>
    [
      ...[root, expiry, (strike / 1000).toFixed(3), right.toUpperCase(), `${local(ms)}.000`, bid ?? 0, ask ?? 0],
      ...[delta, iv ?? 0, `${local(ms)}.000`, spot],
    ]
      .map((value) => value ?? '')
      .join(),
  );
  const has = ['iv', 'delta'] as const;
  return {
    text: [columns, ...rows].join('\n'),
    ending: 'csv',
    capturedAt: ms,
    delayMs: 0,
    spot,
    priorCloseSpot: null,
    has,
  };
}

function yfinance({ ms, lines }: ChainPart, random: Random): Written {
  const columns =
    'contractSymbol,lastTradeDate,strike,lastPrice,bid,ask,change,percentChange,volume,openInterest,impliedVolatility,' +
    'inTheMoney,contractSize,currency';
  const rows = lines.map((line, i) => {
    const at = iso(i === 0 ? ms : ms - random.below(3000) * 1000);
    const numbers = [
      line.last ?? 0,
      line.bid ?? 0,
      line.ask ?? 0,
      0,
      0,
      line.volume,
      line.openInterest,
      line.iv ?? 1e-5,
    ];
    const cells = [osi(line), at.replace('T', ' ').replace('.000Z', '+00:00'), line.strike / 1000, ...numbers];
    return [...cells, 'False', 'REGULAR', 'USD'].map((value) => value ?? '').join();
  });
  const has = ['openInterest', 'volume', 'last', 'iv'] as const;
  const text = [columns, ...rows].join('\n');
  return { text, ending: 'csv', capturedAt: ms, delayMs: 0, spot: null, priorCloseSpot: null, has };
}

const writers = { exchangePage, exchangeJson, massive, tradier, orats, theta, yfinance };
export type ChainFormat = keyof typeof writers;
export const chainFormats = Object.keys(writers) as ChainFormat[];
/** The formats whose files are of one underlying: those of the exchange. Vendors' files may be of many. */
export const ofOne: ReadonlySet<ChainFormat> = new Set(['exchangePage', 'exchangeJson']);
const numberNames = ['openInterest', 'volume', 'last', 'fmv', 'iv', 'delta', 'gamma', 'theta', 'vega'] as const;

/** A line as it is read: only what its format has; zeros that stand for no value are none. */
function asRead(line: ChainLine, { has, shares }: Written): ChainLine {
  const row: ChainLine = { ...line, sharesPerContract: shares ?? null };
  for (const name of numberNames) if (!has.includes(name)) Object.assign(row, { [name]: null });
  if (row.last === 0) row.last = null;
  if (row.ask === 0) row.ask = null;
  if (row.ask === null && row.bid === 0) row.bid = null;
  // An unsolved volatility, and greeks of 0, are none.
  if (!row.iv) row.iv = null;
  if (row.iv === null && !row.delta && !row.gamma)
    for (const name of ['delta', 'gamma', 'theta', 'vega'] as const) row[name] = null;
  return row;
}

/** Defects of files; those that a format cannot have do nothing. */
export const chainDefects = ['repeated', 'displaced', 'empty', 'contract', 'unit', 'cut off'] as const;
export type ChainDefect = (typeof chainDefects)[number];

/** The lines of a part with a defect in them; null if it has none of this kind. */
function spoiledLines(lines: readonly ChainLine[], defect: ChainDefect | null, line: ChainLine) {
  if (defect === 'empty') return [];
  if (defect === 'repeated') return [...lines, line];
  return defect === 'displaced' ? [...lines, { ...line, bid: 0.05, ask: 0.1, openInterest: 7 }] : null;
}

/** The text of a file with a defect that refuses it; null if it has none of this kind. */
function spoiledText(text: string, format: ChainFormat, defect: ChainDefect | null, random: Random): string | null {
  // Seconds or milliseconds in place of nanoseconds.
  if (defect === 'unit' && format === 'massive')
    return text.replaceAll(/(\d{10})\d{9}\b/g, random.pick(['$1', '$1000']));
  return defect === 'cut off' && text.startsWith('{') ? text.slice(0, -20) : null;
}

/** Parts as one text: the lines of tables in any order, answers one after another. */
function joined(parts: readonly Written[], random: Random): string {
  if (parts.length === 1 || parts[0]!.ending === 'json') return parts.map(({ text }) => text).join('\n');
  const lines = parts.map(({ text }) => text.split('\n'));
  return [
    lines[0]![0],
    ...shuffled(
      lines.flatMap((all) => all.slice(1)),
      random,
    ),
  ].join('\n');
}

/** A file of parts of the chains of some underlyings in a format. */
export function chainFile(
  format: ChainFormat,
  parts: readonly ChainPart[],
  { name, defect }: { name: string; defect: ChainDefect | null },
): ChainFile {
  // The same parts are the same text.
  const random = randomOf(hashOf(JSON.stringify([format, parts, defect])));
  const [first, ...others] = [parts[0]!, ...(defect === 'empty' ? [] : parts.slice(1))];
  const chosen = random.pick(first.lines);
  const spoiled = spoiledLines(first.lines, defect, chosen);
  const given = [{ ...first, lines: spoiled ?? first.lines }, ...others];
  const isOfOne = ofOne.has(format);
  const asOne = { ...first, lines: given.flatMap(({ lines }) => lines) };
  const written = (isOfOne ? [asOne] : given).map((part) => writers[format](part, random));
  const text = joined(written, random);
  const bad = spoiledText(text, format, defect, random);
  // A contract that is none: its line is omitted, and counts as bad unless the other side of a page's line is good.
  const [contract, hasBad] = [osi(chosen), defect === 'contract' && format !== 'orats' && format !== 'theta'];
  const bytes = Buffer.from(bad ?? (hasBad ? text.replace(contract, 'NONE') : text));
  const hash = createHash('sha256').update(bytes).digest('hex');
  const pair = pairsOf(first.lines).find(({ call, put }) => call === chosen || put === chosen)!;
  const isHalf = format === 'exchangePage' && pair.call !== undefined && pair.put !== undefined;
  const isRefused = spoiled !== null || bad !== null || (isOfOne && parts.length > 1);
  const chains = (isRefused ? [] : parts).map(({ underlying, lines: own }, i): SourceChain => {
    const { capturedAt, delayMs, spot, priorCloseSpot, lines: changed = own } = written[i]!;
    const all = changed.map((line) => asRead(line, written[i]!));
    const lines = hasBad ? all.filter((line) => osi(line) !== contract) : all;
    return { underlying, capturedAt, delayMs, spot, priorCloseSpot, partial: hasBad, lines, hash };
  });
  return {
    name: `${name}.${written[0]!.ending}`,
    bytes,
    chains: chains.filter(({ lines }) => lines.length > 0).toSorted((a, b) => (a.underlying < b.underlying ? -1 : 1)),
    badLines: hasBad && !isHalf ? 1 : 0,
  };
}
