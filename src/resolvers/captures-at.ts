import type { ChainCapture } from '../core/domain/chain/chain.ts';
import type { SessionDate } from '../core/domain/market-time.ts';
import { batched } from '../platform/runtime/batched.ts';
import { chainCapturesAt, lastChainTimes } from '../store/chain/chain-captures.ts';
import { lastSolvedMinutes, type SolvedMinute } from '../store/chain/solved-minutes.ts';
import { gexCapturesAt, type StoredGexCapture } from '../store/gex/captures.ts';
import { type AsOf, throughMs } from './as-of.ts';
import { fromSource, ofAllInstants, type RequestContext } from './context.ts';

/** The last chain captured as of `atMs`, null = the context's instant; null if there is none. */
export function chainAt(
  context: RequestContext,
  underlying: string,
  atMs: number | null = null,
): Promise<ChainCapture | null> {
  return batched(ofAllInstants(context), 'chains', { underlying, atMs: atMs ?? throughMs(context) }, (asked) =>
    fromSource(context, 'chain', () => chainCapturesAt(context.store, asked)),
  );
}

/**
 * The last chain as of a requested time, null = the latest. A date means the last of its session, or of before if it
 * has none.
 */
export async function chainAsOf(
  context: RequestContext,
  symbol: string,
  asOf: AsOf | null,
): Promise<ChainCapture | null> {
  if (asOf === null || asOf.bareDate === null) return chainAt(context, symbol, asOf?.atMs);
  const { atMs, bareDate } = asOf;
  const last = await batched(ofAllInstants(context), `chains of ${bareDate}`, { underlying: symbol, atMs }, (times) =>
    fromSource(context, 'chain', () => lastChainTimes(context.store, times, bareDate)),
  );
  return chainAt(context, symbol, last ?? atMs);
}

/** True if an instant, epoch ms, is not after the context's: captures of it are read. */
export function hasCome(context: Pick<RequestContext, 'nowMs' | 'past'>, atMs: number): boolean {
  return atMs <= throughMs(context);
}

/** A GEX capture as it is read: `atMs` null = as of the context's instant, of `sessionDate` alone if given. */
export interface ReadGex {
  atMs?: number | null;
  sessionDate?: SessionDate | null;
  byExpiry: boolean;
}

/** The last GEX capture as of `atMs`, only of one session if given; null if there is none. */
export function storedCapture(
  context: RequestContext,
  underlying: string,
  { atMs = null, sessionDate = null, byExpiry }: ReadGex,
): Promise<StoredGexCapture | null> {
  const asked = { underlying, atMs: atMs ?? throughMs(context) };
  return batched(ofAllInstants(context), `gex ${sessionDate} ${byExpiry}`, asked, (times) =>
    fromSource(context, 'chain', () => gexCapturesAt(context.store, times, { byExpiry, sessionDate })),
  );
}

/** The last solved minute of an underlying as of the context's clock; null if there is none. */
export function solvedMinute(context: RequestContext, underlying: string): Promise<SolvedMinute | null> {
  return batched(ofAllInstants(context), 'solved minutes', { underlying, atMs: context.nowMs }, (times) =>
    fromSource(context, 'option_tape', () => lastSolvedMinutes(context.store, times)),
  );
}
