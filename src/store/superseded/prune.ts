import type { Store } from '../rows/connection.ts';
import { keptModels, supersededTable } from '../rows/models/kept-models.ts';
import type { Model } from '../rows/models/model-tables.ts';
import type { Reader } from '../rows/reader.ts';
import { inTransaction, type Transaction } from '../rows/transaction.ts';
import { raiseKnownFrom } from './generation.ts';

/** Superseded data that was removed. */
export interface Pruned {
  rows: number;
  /** First instant of knowledge whose data is stored whole from here on, epoch ms; null = nothing was removed. */
  knownFromMs: number | null;
}

interface Last {
  model: Model;
  lastMs: number | null;
}

/** When the last of the rows of each model that are to be removed were superseded. */
async function lastSuperseded(from: Pick<Reader, 'query'>, throughMs: number): Promise<Last[]> {
  const found: Last[] = [];
  for (const model of keptModels) {
    const { rows } = await from.query<{ last: number | null }>(
      `SELECT max(superseded_ms) AS last FROM ${supersededTable(model)} WHERE superseded_ms <= $1`,
      [throughMs],
    );
    found.push({ model, lastMs: rows[0]!.last });
  }
  return found;
}

async function removeRows(tx: Transaction, throughMs: number): Promise<Pruned> {
  let rows = 0;
  let knownFromMs: number | null = null;
  for (const { model, lastMs } of await lastSuperseded(tx, throughMs)) {
    if (lastMs === null) continue;
    const gone = await tx.query(`DELETE FROM ${supersededTable(model)} WHERE superseded_ms <= $1`, [throughMs]);
    rows += gone.rowCount ?? 0;
    knownFromMs = Math.max(lastMs, knownFromMs ?? 0);
  }
  if (knownFromMs !== null) {
    await raiseKnownFrom(tx, knownFromMs);
    await tx.query('DELETE FROM generation_runs WHERE ended_ms <= $1', [knownFromMs]);
  }
  return { rows, knownFromMs };
}

/** Removes data that was superseded up to an instant, epoch ms. Data known before it can no longer be read. */
export async function pruneSuperseded(store: Store, throughMs: number): Promise<Pruned> {
  const found = await lastSuperseded(store.pool, throughMs);
  // Most runs find nothing, and write nothing.
  if (found.every(({ lastMs }) => lastMs === null)) return { rows: 0, knownFromMs: null };
  return inTransaction(store, (tx) => removeRows(tx, throughMs));
}

/** Removes what was superseded longer ago than the store keeps it; called by every command that writes. */
export function pruneExpired(store: Store, nowMs: number): Promise<Pruned> {
  return pruneSuperseded(store, Math.floor(nowMs) - store.keepSupersededMs);
}
