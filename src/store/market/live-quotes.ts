import { roundHalfEven } from '../../core/domain/units.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { findAny } from '../rows/models/any-of.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import type { Row } from '../rows/models/row-values.ts';
import { upsertRows } from '../rows/models/sets.ts';
import type { Transaction } from '../rows/transaction.ts';
import { type HeldKind, readHeld } from '../versions/versioned-cache.ts';

/**
 * The newest price of a symbol on a live tape: `spot` in dollars at `eventTsMs` (epoch ms), `volume` the session's
 * shares so far, `officialClose` the close of the session before; null if not on the tape.
 */
export type LiveQuote = Row<'LiveQuote'>;

const heldQuotes: HeldKind<LiveQuote> = { subject: 'market', name: 'live-quote', bytesOf: () => 150 };

/**
 * The live quotes of several symbols, of up to 250 in one statement, none if all are cached; a symbol without one is
 * absent.
 */
export function readLiveQuotes(store: Store, symbols: readonly string[]): Promise<Map<string, LiveQuote>> {
  const asked = symbols.map((symbol) => ({ symbol }));
  return readHeld(store, heldQuotes, asked, async (keys) => {
    const { prisma } = readFrom(store, 'market', symbols);
    const missing = keys.map(({ symbol }) => symbol);
    const rows = await findAny(missing, (symbol) => prisma.liveQuote.findMany({ where: { symbol } }));
    return new Map(rows.map((row) => [row.symbol, numbered(row)]));
  });
}

/** Writes live quotes, each replacing the symbol's, unless that is of a later session. */
export async function saveLiveQuotes(tx: Transaction, quotes: readonly LiveQuote[]): Promise<void> {
  // A bigint column has whole shares.
  const rows = quotes.map((quote) => ({ ...quote, volume: roundHalfEven(quote.volume) }));
  await upsertRows(tx, 'LiveQuote', rows, { unlessBelow: 'sessionDate' });
}

/** The instant of the newest live price of any symbol, epoch ms; null if there is none. */
export async function latestLiveEvent(store: Store): Promise<number | null> {
  const { _max } = await readFrom(store, 'market', null).prisma.liveQuote.aggregate({ _max: { eventTsMs: true } });
  return numbered(_max).eventTsMs;
}
