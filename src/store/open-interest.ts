import { dateOfEpochDay, epochDay, type SessionDate } from '../domain/market-time.ts';
import { compareContracts, type OptionContract, osiSymbol } from '../domain/option-contract.ts';
import { blockVersion } from './bar-blocks.ts';
import { decodeBlock, encodeBlock, numbers, texts } from './codec.ts';
import type { Store } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** Contracts outstanding of one option contract, as of the close before the session. */
export interface OpenInterest extends OptionContract {
  openInterest: number;
}

function encode(rows: readonly OpenInterest[]): Uint8Array<ArrayBuffer> {
  return encodeBlock({
    root: rows.map((row) => row.root),
    expiryDay: Float64Array.from(rows, (row) => epochDay(row.expiry)),
    isPut: Float64Array.from(rows, (row) => (row.right === 'put' ? 1 : 0)),
    strike: Float64Array.from(rows, (row) => row.strike),
    openInterest: Float64Array.from(rows, (row) => row.openInterest),
  });
}

function decode(payload: Uint8Array): OpenInterest[] {
  const columns = decodeBlock(payload);
  const day = numbers(columns, 'expiryDay');
  const isPut = numbers(columns, 'isPut');
  const strike = numbers(columns, 'strike');
  const openInterest = numbers(columns, 'openInterest');
  return texts(columns, 'root').map((root, i) => ({
    root,
    expiry: dateOfEpochDay(day[i]!),
    right: isPut[i] === 1 ? 'put' : 'call',
    strike: strike[i]!,
    openInterest: openInterest[i]!,
  }));
}

/** The expiry dates in an open-interest block, ascending. */
export function openInterestExpiries(payload: Uint8Array): SessionDate[] {
  return [...new Set(numbers(decodeBlock(payload), 'expiryDay'))].sort((a, b) => a - b).map(dateOfEpochDay);
}

/** Open interest of some contracts of one underlying in one session. */
export interface OpenInterestRun {
  underlying: string;
  sessionDate: SessionDate;
  rows: OpenInterest[];
}

function merge(older: readonly OpenInterest[], newer: readonly OpenInterest[]): OpenInterest[] {
  const byContract = new Map([...older, ...newer].map((row) => [osiSymbol(row), row]));
  return [...byContract.values()].sort(compareContracts);
}

/** Takes all open interest for a writer until its transaction ends. */
export async function lockOpenInterest(tx: Transaction): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('open_interest_blocks', 0))`);
}

/** Merges open interest into its blocks, inside the caller's transaction, which holds `lockOpenInterest`; of one contract the new figure counts. Returns how many blocks changed. */
export async function saveOpenInterest(tx: Transaction, runs: readonly OpenInterestRun[]): Promise<number> {
  let changed = 0;
  for (const { underlying, sessionDate, rows } of runs) {
    const { rows: before } = await tx.query<{ payload: Buffer; version: string }>({
      name: 'open-interest-block',
      text: 'SELECT payload, version FROM open_interest_blocks WHERE underlying = $1 AND session_date = $2',
      values: [underlying, sessionDate],
    });
    const merged = merge(before[0] ? decode(before[0].payload) : [], rows);
    const payload = Buffer.from(encode(merged));
    const version = blockVersion(payload);
    if (before[0]?.version === version) continue;
    changed++;
    await tx.query({
      name: 'save-open-interest-block',
      text: `INSERT INTO open_interest_blocks (underlying, session_date, count, version, payload) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (underlying, session_date) DO UPDATE SET count = excluded.count, version = excluded.version,
               payload = excluded.payload`,
      values: [underlying, sessionDate, merged.length, version, payload],
    });
  }
  return changed;
}

/** Open interest of every listed contract of `underlying` for a session, by expiry, strike, right; empty when none is stored. */
export async function readOpenInterest(
  store: Store,
  underlying: string,
  sessionDate: SessionDate,
): Promise<OpenInterest[]> {
  const { rows } = await store.pool.query<{ payload: Buffer }>({
    name: 'read-open-interest',
    text: 'SELECT payload FROM open_interest_blocks WHERE underlying = $1 AND session_date = $2',
    values: [underlying, sessionDate],
  });
  return rows[0] ? decode(rows[0].payload) : [];
}
