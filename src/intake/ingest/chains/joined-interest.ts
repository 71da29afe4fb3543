import type { ChainCapture, ChainRow } from '../../../core/domain/chain/chain.ts';
import { osiSymbol } from '../../../core/domain/chain/option-contract.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { chainCaptureOf } from '../../../store/chain/chain-captures.ts';
import { storedOpenInterest } from '../../../store/chain/open-interest.ts';
import {
  type ComputedCapture,
  capturedFrom,
  capturesAfter,
  lockCapturesOfAll,
} from '../../../store/chain/session-captures.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import { settingsOf, writeChain } from './write-chain.ts';

/** True if the source of a row does not know its open interest. */
const isOpen = ({ openInterest, joinedInterest }: ChainRow) => openInterest === null || joinedInterest === true;

/** A row with the open interest of the dataset, null without it, where its source does not know it. */
function withKnown(row: ChainRow, known: ReadonlyMap<string, number>): ChainRow {
  if (!isOpen(row)) return row;
  const { joinedInterest: _, ...own } = row;
  const openInterest = known.get(osiSymbol(row)) ?? null;
  return openInterest === null ? { ...own, openInterest } : { ...own, openInterest, joinedInterest: true };
}

/** A chain whose source does not know open interest, with that of the session's dataset. */
export async function withInterest(tx: Transaction, chain: ChainCapture): Promise<ChainCapture> {
  if (!chain.rows.some(isOpen)) return chain;
  const known = await storedOpenInterest(tx, chain.underlying, chain.sessionDate);
  if (known === null && !chain.rows.some(({ joinedInterest }) => joinedInterest)) return chain;
  return { ...chain, rows: chain.rows.map((row) => withKnown(row, known ?? new Map())) };
}

/** Joins a stored chain; true if it changed. */
async function joinStored(tx: Transaction, underlying: string, stored: ComputedCapture, rate: number) {
  const chain = (await chainCaptureOf(tx, underlying, stored.capturedAt))!;
  const joined = await withInterest(tx, chain);
  return joined !== chain && (await writeChain(tx, joined, settingsOf(chain, stored, rate))).changed > 0;
}

const firstMs = Number.MIN_SAFE_INTEGER;

/**
 * Gives the stored chains of sessions the open interest that a transaction has just written, where their sources do not
 * know it, and computes their GEX captures. Returns the number of chains that changed.
 */
export async function joinInterest(
  tx: Transaction,
  sessions: readonly { underlying: string; sessionDate: SessionDate }[],
  rate: number,
): Promise<number> {
  let changed = 0;
  // A chain that is being stored was read without this open interest.
  await lockCapturesOfAll(tx, [...new Set(sessions.map(({ underlying }) => underlying))]);
  for (const [sessionDate, of] of Map.groupBy(sessions, (session) => session.sessionDate)) {
    const underlyings = of.map(({ underlying }) => underlying);
    for (const underlying of await capturedFrom(tx, underlyings, sessionDate, firstMs))
      for (const stored of await capturesAfter(tx, underlying, sessionDate, firstMs))
        changed += Number(await joinStored(tx, underlying, stored, rate));
  }
  return changed;
}
