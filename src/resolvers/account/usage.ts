import { trailingDays } from '../../access/usage/usage.ts';
import { countScreens } from '../../store/account/saved-screens.ts';
import { journalRows } from '../../store/journal/journal-writes.ts';
import { fromStore, type RequestContext } from '../context.ts';

/** Requests of one scope group on one date. */
export interface UsageDay {
  /** YYYY-MM-DD, UTC. */
  date: string;
  scopeGroup: string;
  count: number;
}

/** A quota of requests per period. */
export interface Quota {
  limit: number;
  used: number;
  /** Epoch ms. */
  resetsAt: number;
}

/** Requests of an account (spec 2.16). */
export interface AccountUsage {
  /** Number of days, including today. */
  trailingDays: number;
  /** Ascending by date, then by scope group. */
  byDay: UsageDay[];
  totalsByScopeGroup: Record<string, number>;
  rateLimit: { perMin: number };
  /** Always null: there is no quota yet. */
  quota: Quota | null;
  /** Current and maximum number of rows in the account's journal: trades, journal accounts and imports. */
  journal: { rows: number; limit: number };
  /** Number of saved screens, and the maximum. */
  screens: { count: number; limit: number };
}

/**
 * The usage of the caller's account over the last 30 UTC days, without the current request, which is counted once
 * answered.
 */
export async function accountUsage(context: RequestContext): Promise<AccountUsage> {
  const { access, caller, store, journalMaxRows, maxSavedScreens } = context;
  const [byDay, rows, screens] = await Promise.all([
    fromStore('usage', () => access.usage.read(caller.accountId)),
    fromStore('journal', () => journalRows(store, caller.accountId)),
    fromStore('screens', () => countScreens(store, caller.accountId)),
  ]);
  const totals: Record<string, number> = {};
  for (const { scopeGroup, count } of byDay) totals[scopeGroup] = (totals[scopeGroup] ?? 0) + count;
  return {
    trailingDays,
    byDay,
    totalsByScopeGroup: totals,
    rateLimit: { perMin: access.rate.limit(caller) },
    quota: null,
    journal: { rows, limit: journalMaxRows },
    screens: { count: screens, limit: maxSavedScreens },
  };
}
