import { contractId, readOptionContract } from '../chain/option-contract.ts';
import { underlyingOf } from '../chain/option-root.ts';
import { exchangeDate, type SessionDate } from '../market-time.ts';
import { flowEventKinds } from './flow.ts';

/** Where a large trade is stored. */
export interface EventKey {
  underlying: string;
  sessionDate: SessionDate;
  eventId: string;
}

const idPattern = new RegExp(`^(?:${flowEventKinds.join('|')}):(O:[A-Z0-9]+):(\\d{1,15}):\\d{1,15}$`);

/** Where the large trade of an id is stored: its first leg says so. Null for a text that is no id of one. */
export function readEventId(eventId: string): EventKey | null {
  const [, id = '', tsMs] = idPattern.exec(eventId) ?? [];
  const contract = readOptionContract(id);
  if (contract === null || contractId(contract) !== id) return null;
  return { underlying: underlyingOf(contract.root), sessionDate: exchangeDate(Number(tsMs)), eventId };
}
