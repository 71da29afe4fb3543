import { setTimeout as delay } from 'node:timers/promises';
import { optionsAreOver } from '../../core/domain/calendar.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import {
  removeSeals,
  type StoredSession,
  saveSeals,
  storedSession,
  tryHoldSeals,
  wholeSession,
} from '../../store/market/session-seals.ts';
import { holdOrigin } from '../../store/origin.ts';
import type { Store } from '../../store/rows/connection.ts';
import { inSettledTransaction, type Transaction } from '../../store/rows/transaction.ts';

const askAgainMs = 100;
const namedSymbols = 10;

/** A session to seal or unseal: some symbols or (null) all. */
export interface SealRequest {
  session: SessionDate;
  symbols: readonly string[] | null;
}

export interface SealOptions {
  now: Clock;
  /** Aborted to stop waiting for writers. */
  signal?: AbortSignal;
}

/** Result of a request. */
export interface SealReport extends SealRequest {
  status: 'sealed' | 'unchanged' | 'undone' | 'refused';
  /** Reason for the rejection; null if successful. */
  reason: string | null;
  /** Stored data of the sealed symbols: number of symbols, and of those with an option tape, a stock tape, chains. */
  stored: { symbols: number; optionTapes: number; stockTapes: number; chains: number };
}

const nothing = { symbols: 0, optionTapes: 0, stockTapes: 0, chains: 0 };

function named(symbols: readonly string[]): string {
  const more = symbols.length - namedSymbols;
  return symbols.slice(0, namedSymbols).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * Takes the lock of the seals once no process writes. It does not queue: other writers would wait behind it for the
 * longest of the running ones.
 */
async function holdSeals(tx: Transaction, signal: AbortSignal | undefined): Promise<void> {
  while (!(await tryHoldSeals(tx))) await delay(askAgainMs, undefined, signal && { signal });
}

/** The reason why a session cannot be sealed; null if it can. */
function objection({ session, symbols }: SealRequest, stored: readonly StoredSession[]): string | null {
  const missing = (symbols ?? []).filter((symbol) => !stored.some((each) => each.symbol === symbol));
  if (missing.length > 0) return `nothing of ${session} is stored for ${named(missing)}`;
  if (stored.length === 0) return `nothing of ${session} is stored`;
  const live = stored.filter((each) => each.live).map(({ symbol }) => symbol);
  return live.length > 0 ? `the option tape of ${named(live)} is not reconciled` : null;
}

/**
 * Makes a session final: no command can write it until it is unsealed. Rejected until the session is over, if nothing
 * of it is stored, and while it has live option flow that is not reconciled. Waits for commands that are writing.
 */
export async function sealSession(
  store: Store,
  request: SealRequest,
  { now, signal }: SealOptions,
): Promise<SealReport> {
  const { session, symbols } = request;
  const refused = (reason: string): SealReport => ({ ...request, status: 'refused', reason, stored: nothing });
  if (!optionsAreOver(session, now())) return refused(`${session} is not over`);
  return inSettledTransaction(store, async (tx) => {
    await holdOrigin(tx);
    await holdSeals(tx, signal);
    const found = await storedSession(tx, session, symbols);
    const reason = objection(request, found);
    if (reason !== null) return refused(reason);
    const sealed = await saveSeals(tx, session, symbols ?? [wholeSession], now());
    const count = (has: (each: StoredSession) => boolean) => found.filter(has).length;
    return {
      ...request,
      status: sealed > 0 ? 'sealed' : 'unchanged',
      reason: null,
      stored: {
        symbols: found.length,
        optionTapes: count((each) => each.options),
        stockTapes: count((each) => each.stockTape),
        chains: count((each) => each.chains),
      },
    };
  });
}

/** Removes seals. Rejected if there are none, and for single symbols while the whole session is sealed. */
export async function unsealSession(store: Store, request: SealRequest, { signal }: SealOptions): Promise<SealReport> {
  const { session, symbols } = request;
  return inSettledTransaction(store, async (tx) => {
    await holdSeals(tx, signal);
    const removed = await removeSeals(tx, session, symbols);
    if (removed.length > 0) return { ...request, status: 'undone', reason: null, stored: nothing };
    const of = symbols === null ? '' : ` for ${named(symbols)} alone`;
    return { ...request, status: 'refused', reason: `${session} is not sealed${of}`, stored: nothing };
  });
}
