import { isStorableText } from '../../../platform/runtime/storable-text.ts';
import { instantBounds, isWithin } from '../instant-gate.ts';
import { exchangeTimeZone, parseInstant } from '../market-time.ts';
import { maxEpochMs } from '../units.ts';
import { readInstrument } from './instrument.ts';
import type { NewTrade } from './journal.ts';
import { idField, RecordFields, readNumber, readText } from './record-fields.ts';

const readEpochMs = readNumber((ms) => Number.isInteger(ms) && Math.abs(ms) <= maxEpochMs);

/** Epoch ms, or text in the contract's form; without an offset it is New York time. */
function writtenTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return readEpochMs(value);
  try {
    return parseInstant(value, exchangeTimeZone, 'ts').ms;
  } catch {
    return undefined;
  }
}

/** A plausible time of a trade; seconds, or a time to come, are none. */
function readTime(value: unknown, nowMs: number): number | undefined {
  const ms = writtenTime(value);
  return ms !== undefined && isWithin(instantBounds(nowMs), ms) ? ms : undefined;
}

/**
 * Fields of a trade (contract-notes 3). Symbols become upper case. A quantity is positive (the side gives the
 * direction), a price not negative.
 */
export const journalTradeFields = new RecordFields<NewTrade>({
  id: { name: 'id', ...idField, absent: () => null },
  journalAccountId: { name: 'account_id', ...idField },
  symbol: {
    name: 'symbol',
    read: (value) => (typeof value === 'string' ? (readInstrument(value) ?? undefined) : undefined),
    expected: 'expected a ticker such as SPY or BRK.B, or a contract such as O:SPY241220C00600000',
  },
  side: { name: 'side', read: readText(isStorableText), expected: 'expected text, such as buy or sell' },
  qty: { name: 'qty', read: readNumber((qty) => qty > 0), expected: 'expected a number above 0' },
  price: {
    name: 'price',
    read: readNumber((price) => price >= 0),
    expected: 'expected dollars, a number of 0 or more',
  },
  tsMs: {
    name: 'ts',
    read: readTime,
    expected: 'expected epoch ms, YYYY-MM-DD or YYYY-MM-DDTHH:MM[:SS], from 1990 to an hour from now',
    absent: (nowMs) => nowMs,
  },
  note: { name: 'note', read: readText(isStorableText), expected: 'expected text', absent: () => null },
});
