import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { epochDay, type SessionDate } from '../../core/domain/market-time.ts';
import { capturesSince, type GexState, missed } from '../../live/gex.ts';
import type { Following } from '../../live/topics.ts';
import { invalidParameter, notFound } from '../../platform/wire/failure.ts';
import type { StoredGexCapture } from '../../store/gex/captures.ts';
import { storedCapture } from '../captures-at.ts';
import { findSymbol, type RequestContext, requireSource } from '../context.ts';
import { resumption, type Since } from '../since.ts';
import { type ServedGexCapture, servedCaptures } from './gex.ts';
import { overExpiries } from './grid.ts';

/** Following a symbol's captures: the latest, then each new or recomputed one. 403 if the symbol may not be read. */
export async function gexFollowing(
  context: RequestContext,
  symbol: string,
  since: Since,
): Promise<Following<GexState, StoredGexCapture>> {
  requireReadable(context.caller, await findSymbol(context, symbol));
  requireSource(context, 'chain');
  const { after } = context;
  if (after !== null && !/^\d{1,15}$/.test(after))
    throw invalidParameter('after', 'expected the time of a capture, epoch ms');
  return {
    keys: [symbol],
    resume: resumption(context, since, {
      after: (state, capturedAt, store) => missed(store, symbol, Number(capturedAt), state),
      since: (state, sinceMs, store) => capturesSince(store, symbol, sinceMs, state),
    }),
    async check(caller) {
      const entry = await findSymbol(context, symbol);
      requireReadable(caller, entry);
    },
  };
}

/** Arguments of a subscription, for every capture. */
export interface FollowedGexArgs {
  topStrikes?: number | null | undefined;
  expiries?: readonly SessionDate[] | null | undefined;
}

/** A followed capture as its subscriber requested it. */
export async function followedCapture(
  context: RequestContext,
  capture: StoredGexCapture,
  { topStrikes, expiries }: FollowedGexArgs,
): Promise<ServedGexCapture> {
  let chosen = capture;
  if (expiries != null) {
    // The hub reads only net rows, which suffice for most subscribers.
    const { underlying, capturedAt: atMs } = capture;
    const whole = await storedCapture(context, underlying, { atMs, byExpiry: true });
    if (!whole) throw notFound('The capture');
    chosen = overExpiries(whole, new Set(expiries.map(epochDay)));
  }
  return servedCaptures([chosen], false, topStrikes ?? null)[0]!;
}
