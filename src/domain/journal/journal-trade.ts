import { invalidParameter } from '../../wire/failure.ts';
import { isStorableText } from '../../wire/stored-text.ts';
import { isId, maxIdLength } from '../account.ts';
import { exchangeTimeZone, parseInstant } from '../market-time.ts';
import { readTicker } from '../ticker.ts';
import { maxEpochMs } from '../units.ts';
import type { JournalTrade, NewTrade } from './journal.ts';

/** A value, or why there is none. */
type Read<T> = { value: T } | 'missing' | 'bad';

const text = (value: unknown, ok: (text: string) => boolean): Read<string> =>
  typeof value === 'string' && ok(value) ? { value } : 'bad';

const number = (value: unknown, ok: (number: number) => boolean): Read<number> =>
  typeof value === 'number' && Number.isFinite(value) && ok(value) ? { value } : 'bad';

function ticker(value: unknown): Read<string> {
  const symbol = typeof value === 'string' ? readTicker(value) : null;
  return symbol === null ? 'bad' : { value: symbol };
}

/** Epoch ms, or text as the contract writes times; without an offset it is New York's. */
function instant(value: unknown): Read<number> {
  if (typeof value !== 'string') {
    return number(value, (ms) => Number.isInteger(ms) && Math.abs(ms) <= maxEpochMs);
  }
  try {
    return { value: parseInstant(value, exchangeTimeZone, 'ts').ms };
  } catch {
    return 'bad';
  }
}

/**
 * Reads a trade object (contract-notes 3: `id, account_id, symbol, side, qty, price, ts, note`), or says what is wrong
 * with the first field that is: `missing_<field>` or `bad_<field>`. Null and empty count as not sent; other keys are
 * skipped. Symbols become upper case. A quantity is above zero (the side gives the direction), a price not below it.
 * `nowMs` is the time if none is given.
 */
export function readTrade(fields: Readonly<Record<string, unknown>>, nowMs: number): NewTrade | string {
  const wrong: string[] = [];
  function field<T, D>(name: string, read: (value: unknown) => Read<T>, absent: D): T | D {
    // An argument of the graph that was not sent is there, as undefined.
    const value = (Object.hasOwn(fields, name) ? fields[name] : null) ?? null;
    const result = value === null || value === '' ? 'missing' : read(value);
    if (typeof result === 'object') return result.value;
    if (result === 'bad' || absent === undefined) wrong.push(`${result}_${name}`);
    return absent;
  }
  const trade = {
    id: field('id', (value) => text(value, isId), null),
    journalAccountId: field('account_id', (value) => text(value, isId), undefined),
    symbol: field('symbol', ticker, undefined),
    side: field('side', (value) => text(value, isStorableText), undefined),
    qty: field('qty', (value) => number(value, (qty) => qty > 0), undefined),
    price: field('price', (value) => number(value, (price) => price >= 0), undefined),
    tsMs: field('ts', instant, nowMs),
    note: field('note', (value) => text(value, isStorableText), null),
  };
  return wrong[0] ?? (trade as NewTrade);
}

const expected: Record<string, string> = {
  id: `expected 1 to ${maxIdLength} characters without control characters`,
  account_id: `expected 1 to ${maxIdLength} characters without control characters`,
  symbol: 'expected a ticker such as SPY or BRK.B',
  side: 'expected text, such as buy or sell',
  qty: 'expected a number above 0',
  price: 'expected dollars, a number of 0 or more',
  ts: 'expected epoch ms, YYYY-MM-DD or YYYY-MM-DDTHH:MM[:SS]',
  note: 'expected text',
};

/** As `readTrade`, but throws 400 naming the field. */
export function requireTrade(fields: Readonly<Record<string, unknown>>, nowMs: number): NewTrade {
  const read = readTrade(fields, nowMs);
  if (typeof read !== 'string') return read;
  const [, problem, field] = /^(missing|bad)_(.*)$/.exec(read)!;
  throw invalidParameter(field!, problem === 'missing' ? 'is required' : expected[field!]!);
}

/** A trade's fields by the names they have on the wire: what `readTrade` reads. */
export function tradeFields(trade: JournalTrade): Record<string, unknown> {
  const { id, journalAccountId, symbol, side, qty, price, tsMs, note } = trade;
  return { id, account_id: journalAccountId, symbol, side, qty, price, ts: tsMs, note };
}
