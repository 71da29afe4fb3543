import type { Store } from '../connection.ts';
import type { Reader } from '../reader.ts';
import type { Model } from './model-tables.ts';
import type { FieldOf, Row } from './row-values.ts';
import { findRows, type KeySet } from './sets.ts';

type Versioned = { version: string };

/**
 * `findRows` for rows of known versions, cached or from an earlier statement. A standby that lacks one of them, or has
 * another version, may be behind the primary, which the versions came from: those are read from the primary too.
 */
export async function findKnownRows<M extends Model, By extends FieldOf<M>, Field extends FieldOf<M>>(
  store: Store,
  from: Reader,
  model: M,
  { by, keys }: KeySet<M, By> & { keys: readonly (Pick<Row<M>, By> & Versioned)[] },
  select: readonly (Field | By)[],
) {
  const rows = await findRows(from, model, { by, keys }, select);
  if (store.replicas === null) return rows;
  const idOf = (row: object) => by.map((name) => (row as Record<string, unknown>)[name]).join(' ');
  const versions = new Map(rows.map((row) => [idOf(row), (row as unknown as Versioned).version]));
  const isBehind = (key: Versioned) => versions.get(idOf(key)) !== key.version;
  const behind = new Map(keys.filter((key) => isBehind(key as Versioned)).map((key) => [idOf(key), key]));
  if (behind.size === 0) return rows;
  store.view?.readOnFrom(store.primary);
  const again = await findRows(store.primary, model, { by, keys: [...behind.values()] }, select);
  return [...rows.filter((row) => !behind.has(idOf(row))), ...again];
}
