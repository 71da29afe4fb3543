import { methodologyVersion } from '../../analytics/methodology.ts';
import { type ChainCapture, type ChainRow, greekNames } from '../../domain/chain/chain.ts';
import { roundTo } from '../../domain/units.ts';
import { chainCaptureAt } from '../../store/chain/chain-captures.ts';
import { capturesAfter, lockCaptures, outdatedChains } from '../../store/chain/session-captures.ts';
import type { Store } from '../../store/engine/connection.ts';
import type { Transaction } from '../../store/engine/transaction.ts';
import { settingsOf, writeChain } from '../chains/chain.ts';
import type { RecomputeWork, UnderlyingSession } from './session-work.ts';

/** Sources give greeks to so many decimals at most; what was solved has more. */
const sourceDecimals = 6;

const isOurs = (value: number | null) => value !== null && value !== roundTo(value, sourceDecimals);

/**
 * A row as its source gave it, of a capture of before solved greeks were stored beside the source's: then they filled
 * its gaps.
 */
function sourceRow(row: ChainRow): ChainRow {
  const source = { ...row };
  for (const name of greekNames) if (isOurs(row[name])) source[name] = null;
  // Deep in the money what was solved has no more decimals: a delta of one and no gamma, of a volatility that is ours.
  if (isOurs(row.iv) && row.gamma === 0 && Math.abs(row.delta ?? 0) === 1) [source.delta, source.gamma] = [null, null];
  return source;
}

/** A chain as its source gave it. */
function sourceChain(chain: ChainCapture): ChainCapture {
  const isSeparate = chain.rate != null || chain.rows.some(({ solved }) => solved !== undefined);
  return isSeparate ? chain : { ...chain, rows: chain.rows.map(sourceRow) };
}

/** Sessions with captures of an older version. */
export function sessionsOfChains(store: Store): Promise<UnderlyingSession[]> {
  return outdatedChains(store, methodologyVersion);
}

/**
 * Solves the captures of a session again, in order of time, each with the gammas and the rate it had; returns how many
 * rows differ.
 */
export async function recomputeChains(
  tx: Transaction,
  { underlying, session }: UnderlyingSession,
  { rate, check }: Pick<RecomputeWork, 'rate' | 'check'>,
): Promise<number> {
  await lockCaptures(tx, underlying);
  let changed = 0;
  for (const stored of await capturesAfter(tx, underlying, session, Number.MIN_SAFE_INTEGER)) {
    check();
    const chain = (await chainCaptureAt(tx, underlying, stored.capturedAt))!;
    const settings = settingsOf(chain, stored, rate);
    const source = settings.gammaSource === 'solve' ? sourceChain(chain) : chain;
    changed += (await writeChain(tx, source, settings)).changed;
  }
  return changed;
}
