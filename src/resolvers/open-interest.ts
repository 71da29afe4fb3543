import DataLoader from 'dataloader';
import { exchangeDate } from '../domain/market-time.ts';
import { type OptionContract, osiSymbol } from '../domain/option-contract.ts';
import { underlyingOf } from '../domain/option-root.ts';
import { type ListedInterest, latestOpenInterest } from '../store/open-interest.ts';
import { chainAt, latestChainRow } from './chain.ts';
import { fromSource, loader, type RequestContext } from './context.ts';
import { requireReadable } from './gex.ts';

/** Underlyings asked for in one request are read together. */
function interestLoader(context: RequestContext) {
  return loader(
    context,
    'open interest',
    () =>
      new DataLoader<string, ListedInterest | null>((underlyings) =>
        fromSource(context, 'chain', () => latestOpenInterest(context.store, underlyings, exchangeDate(context.nowMs))),
      ),
  );
}

/**
 * A contract's open interest, the prior close's figure: of the latest chain, or as published for a session since then, or where the chain does
 * not say; null when neither says.
 */
export async function openInterestOf(context: RequestContext, contract: OptionContract): Promise<number | null> {
  const underlying = underlyingOf(contract.root);
  await requireReadable(context, underlying);
  const [chain, row, published] = await Promise.all([
    chainAt(context, underlying, context.nowMs),
    latestChainRow(context, underlying, contract),
    interestLoader(context).load(underlying),
  ]);
  const listed = published?.byContract.get(osiSymbol(contract)) ?? null;
  const captured = row?.openInterest ?? null;
  const isNewer = published !== null && (chain === null || published.sessionDate > chain.sessionDate);
  return isNewer ? (listed ?? captured) : (captured ?? listed);
}
