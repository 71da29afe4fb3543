import { tradeDate } from '../calendar.ts';
import { contractId, readOptionContract } from '../chain/option-contract.ts';
import { exchangeDate, type SessionDate } from '../market-time.ts';
import { flowEventKinds } from './flow.ts';

/** Key of a stored large trade. */
export interface EventKey {
  underlying: string;
  sessionDate: SessionDate;
  eventId: string;
}

/** The parts of a large trade's id. */
export interface EventId {
  /** The root of its first leg's contract, whose underlying it is stored under. */
  root: string;
  eventId: string;
  /**
   * The sessions under which it may be stored: the trade date of its first leg, and the New York date if that differs,
   * which earlier releases used.
   */
  sessionDates: readonly SessionDate[];
}

const idPattern = new RegExp(`^(?:${flowEventKinds.join('|')}):(O:[A-Z0-9]+):(\\d{1,15}):\\d{1,15}$`);

/** Parses the id of a large trade; null for any other text. */
export function readEventId(eventId: string): EventId | null {
  const [, id = '', tsMs] = idPattern.exec(eventId) ?? [];
  const contract = readOptionContract(id);
  if (contract === null || contractId(contract) !== id) return null;
  const sessionDates = [...new Set([tradeDate(Number(tsMs)), exchangeDate(Number(tsMs))])];
  return { root: contract.root, eventId, sessionDates };
}
