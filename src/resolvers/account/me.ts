import type { Caller } from '../../access/caller.ts';
import type { Tier } from '../../domain/tier.ts';
import { findAccount } from '../../store/account/accounts.ts';
import { fromStore, type RequestContext } from '../context.ts';

/** Who asks, and under what the request is served. */
export type Me = Caller;

/** The tier of the caller's API keys: for a key what it is served under, for a session what the account says. */
export async function apiTier(context: RequestContext, me: Me): Promise<Tier | null> {
  if (me.kind === 'key') return me.tier;
  const account = await fromStore('account', () => findAccount(context.store, me.accountId));
  return account?.apiTier ?? null;
}
