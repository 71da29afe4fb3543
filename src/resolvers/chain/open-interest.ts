import { requireReadable } from '../../access/entitlement/entitlement.ts';
import { type OptionContract, osiSymbol } from '../../domain/chain/option-contract.ts';
import { exchangeDate } from '../../domain/market-time.ts';
import { batched } from '../../runtime/batched.ts';
import { type ListedInterest, latestOpenInterest } from '../../store/chain/open-interest.ts';
import { chainAt } from '../captures-at.ts';
import { findSymbol, fromSource, ofAllInstants, type RequestContext, underlyingOf } from '../context.ts';
import { latestChainRow } from './chain.ts';

function publishedInterest(context: RequestContext, underlying: string): Promise<ListedInterest | null> {
  const today = exchangeDate(context.nowMs);
  return batched(ofAllInstants(context), `open interest ${today}`, underlying, (underlyings) =>
    fromSource(context, 'chain', () => latestOpenInterest(context.store, underlyings, today)),
  );
}

/** The open interest that was published for a later session than that of the latest chain; null = none was. */
export async function newerInterest(context: RequestContext, underlying: string): Promise<ListedInterest | null> {
  const [chain, published] = await Promise.all([chainAt(context, underlying), publishedInterest(context, underlying)]);
  return published !== null && (chain === null || published.sessionDate > chain.sessionDate) ? published : null;
}

/**
 * A contract's open interest, as of the prior close: from the latest chain, or as published for a later session, or if
 * the chain has none; null if neither has it.
 */
export async function openInterestOf(context: RequestContext, contract: OptionContract): Promise<number | null> {
  const underlying = await underlyingOf(context, contract);
  requireReadable(context.caller, await findSymbol(context, underlying));
  const [row, published, newer] = await Promise.all([
    latestChainRow(context, underlying, contract),
    publishedInterest(context, underlying),
    newerInterest(context, underlying),
  ]);
  const listed = published?.byContract.get(osiSymbol(contract)) ?? null;
  const captured = row?.openInterest ?? null;
  return newer ? (listed ?? captured) : (captured ?? listed);
}
