import type { Store } from './connection.ts';
import { inTransaction } from './transaction.ts';

/** An API key as it is stored: everything but the key. */
export interface ApiKeyRow {
  id: string;
  accountId: string;
  name: string;
  /** SHA-256 of the key, hex. */
  hash: string;
  /** The key's first characters. */
  prefix: string;
  /** Epoch ms. */
  createdAt: number;
  /** Epoch ms, up to a few seconds late; null = never used. */
  lastUsedAt: number | null;
  /** Epoch ms from which it is no longer good; null = never. */
  expiresAt: number | null;
  /** Epoch ms; null = not revoked. */
  revokedAt: number | null;
}

const columns = `id, account_id as "accountId", name, hash, prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
  expires_at as "expiresAt", revoked_at as "revokedAt"`;

/**
 * Stores a new key. `maxLive` bounds the account's keys that are neither revoked nor expired, however many are made at once;
 * `full` = it has as many; `no-account` = there is no such account.
 */
export async function insertApiKey(
  store: Store,
  row: ApiKeyRow,
  maxLive: number,
): Promise<'stored' | 'full' | 'no-account'> {
  return inTransaction(store, async (tx) => {
    const account = await tx.query('select 1 from accounts where id = $1 for update', [row.accountId]);
    if (account.rowCount === 0) return 'no-account';
    const { rowCount } = await tx.query(
      `insert into api_keys (id, account_id, name, hash, prefix, created_at, last_used_at, expires_at, revoked_at)
       select $1, $2, $3, $4, $5, $6::bigint, $7::bigint, $8::bigint, $9::bigint
       where (select count(*) from api_keys
              where account_id = $2 and revoked_at is null and (expires_at is null or expires_at > $6)) < $10`,
      [
        row.id,
        row.accountId,
        row.name,
        row.hash,
        row.prefix,
        row.createdAt,
        row.lastUsedAt,
        row.expiresAt,
        row.revokedAt,
        Math.min(maxLive, Number.MAX_SAFE_INTEGER),
      ],
    );
    return rowCount === 1 ? 'stored' : 'full';
  });
}

/** The key with that hash, revoked or expired though it be; null = there is none. */
export async function findApiKey(store: Store, hash: string): Promise<ApiKeyRow | null> {
  const { rows } = await store.pool.query<ApiKeyRow>({
    name: 'api-key',
    text: `select ${columns} from api_keys where hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** The keys of an account, or of all with null, oldest first. */
export async function listApiKeys(store: Store, accountId: string | null): Promise<ApiKeyRow[]> {
  const { rows } = await store.pool.query<ApiKeyRow>(
    `select ${columns} from api_keys where $1::text is null or account_id = $1 order by created_at, id`,
    [accountId],
  );
  return rows;
}

/** Revokes a key of an account, or of any with null. Returns its hash; null = there is no such key, or it was revoked before. */
export async function revokeApiKey(
  store: Store,
  id: string,
  accountId: string | null,
  nowMs: number,
): Promise<string | null> {
  const { rows } = await store.pool.query<{ hash: string }>(
    `update api_keys set revoked_at = $3 where id = $1 and ($2::text is null or account_id = $2) and revoked_at is null
     returning hash`,
    [id, accountId, nowMs],
  );
  return rows[0]?.hash ?? null;
}

/** Records when keys were last used: epoch ms by key id. An earlier time than the stored one changes nothing. */
export async function touchApiKeys(store: Store, usedAt: ReadonlyMap<string, number>): Promise<void> {
  // In order of id, so that two processes never wait for each other in a circle.
  const touched = [...usedAt].sort(([a], [b]) => (a < b ? -1 : 1));
  await store.pool.query(
    `with used as materialized (
       select k.id, u.at from unnest($1::text[], $2::bigint[]) as u(id, at) join api_keys k on k.id = u.id
       where k.last_used_at is null or k.last_used_at < u.at order by k.id for update of k)
     update api_keys k set last_used_at = used.at from used where k.id = used.id`,
    [touched.map(([id]) => id), touched.map(([, at]) => at)],
  );
}
