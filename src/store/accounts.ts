import { type Account, newAccountTiers } from '../domain/account.ts';
import type { Classification, Tier } from '../domain/tier.ts';
import type { Store } from './connection.ts';

/** What to change of an account; what is absent stays. */
export interface AccountChange {
  siteTier?: Tier | undefined;
  apiTier?: Tier | undefined;
  /** Null takes the declaration back. */
  classification?: Classification | null | undefined;
}

const columns = `id, site_tier as "siteTier", api_tier as "apiTier", classification,
  classified_at as "classifiedAt", created_at as "createdAt"`;

/** The account of that id; null = there is none. */
export async function findAccount(store: Store, id: string): Promise<Account | null> {
  const { rows } = await store.pool.query<Account>({
    name: 'account',
    text: `select ${columns} from accounts where id = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Every account, by id. */
export async function listAccounts(store: Store): Promise<Account[]> {
  return (await store.pool.query<Account>(`select ${columns} from accounts order by id`)).rows;
}

/** The account of that id, made on the lowest tiers when there is none. */
export async function ensureAccount(store: Store, id: string, nowMs: number): Promise<Account> {
  return (await findAccount(store, id)) ?? setAccount(store, id, {}, nowMs);
}

/** Makes or changes an account and returns it. What a new one is not told is the lowest tier, and not classified. */
export async function setAccount(store: Store, id: string, change: AccountChange, nowMs: number): Promise<Account> {
  const { siteTier, apiTier, classification } = change;
  const { rows } = await store.pool.query<Account>(
    `insert into accounts as a (id, site_tier, api_tier, classification, classified_at, created_at)
     values ($1, coalesce($2, $7), coalesce($3, $8), $4, case when $4::text is null then null else $6::bigint end, $6)
     on conflict (id) do update set
       site_tier = coalesce($2, a.site_tier),
       api_tier = coalesce($3, a.api_tier),
       classification = case when $5 then $4 else a.classification end,
       classified_at = case when not $5 or $4 is not distinct from a.classification then a.classified_at
                            when $4 is null then null else $6 end
     returning ${columns}`,
    [
      id,
      siteTier ?? null,
      apiTier ?? null,
      classification ?? null,
      classification !== undefined,
      nowMs,
      newAccountTiers.siteTier,
      newAccountTiers.apiTier,
    ],
  );
  return rows[0]!;
}

/**
 * Records what an account declares itself to be and returns the account as it then is. `professional` is final: it stays, and so
 * does the time of a declaration that is only repeated. Null = there is no such account.
 */
export async function declareClassification(
  store: Store,
  id: string,
  classification: Classification,
  nowMs: number,
): Promise<Account | null> {
  await store.pool.query(
    `update accounts set classification = $2, classified_at = $3
     where id = $1 and classification is distinct from 'professional' and classification is distinct from $2`,
    [id, classification, nowMs],
  );
  return findAccount(store, id);
}
