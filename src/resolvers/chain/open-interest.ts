import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { ChainCapture, ChainRow } from '../../core/domain/chain/chain.ts';
import { type OptionContract, osiSymbol } from '../../core/domain/chain/option-contract.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import { batched } from '../../platform/runtime/batched.ts';
import { type ListedInterest, latestOpenInterest } from '../../store/chain/open-interest.ts';
import { chainAt } from '../captures-at.ts';
import { findSymbol, fromSource, ofAllInstants, type RequestContext, underlyingOf } from '../context.ts';
import { rowIn } from './chain.ts';

function publishedInterest(context: RequestContext, underlying: string): Promise<ListedInterest | null> {
  const today = exchangeDate(context.nowMs);
  return batched(ofAllInstants(context), `open interest ${today}`, underlying, (underlyings) =>
    fromSource(context, 'chain', () => latestOpenInterest(context.store, underlyings, today)),
  );
}

/** The open interest that was published for a later session than that of the latest chain; null = none was. */
export async function newerInterest(context: RequestContext, underlying: string): Promise<ListedInterest | null> {
  const latest = await latestInterest(context, underlying);
  return latest.isNewer ? latest.published : null;
}

/** An underlying's latest chain, and the open interest that was published. */
export interface LatestInterest {
  capture: ChainCapture | null;
  published: ListedInterest | null;
  /** True if it was published for a later session than that of the chain. */
  isNewer: boolean;
}

/** The latest chain of an underlying, and open interest published beside it. */
export async function latestInterest(context: RequestContext, underlying: string): Promise<LatestInterest> {
  const [capture, published] = await Promise.all([
    chainAt(context, underlying),
    publishedInterest(context, underlying),
  ]);
  const isNewer = published !== null && (capture === null || published.sessionDate > capture.sessionDate);
  return { capture, published, isNewer };
}

/** A contract's open interest by its row of the chain, null if that does not list it, and what was published. */
export function interestIn(
  { published, isNewer }: LatestInterest,
  contract: OptionContract,
  row: ChainRow | null,
): number | null {
  const listed = published?.byContract.get(osiSymbol(contract)) ?? null;
  const captured = row?.openInterest ?? null;
  return isNewer ? (listed ?? captured) : (captured ?? listed);
}

/**
 * A contract's open interest, as of the prior close: from the latest chain, or as published for a later session, or if
 * the chain has none; null if neither has it.
 */
export async function openInterestOf(context: RequestContext, contract: OptionContract): Promise<number | null> {
  const underlying = await underlyingOf(context, contract);
  requireReadable(context.caller, await findSymbol(context, underlying));
  const latest = await latestInterest(context, underlying);
  return interestIn(latest, contract, rowIn(latest.capture, contract));
}
