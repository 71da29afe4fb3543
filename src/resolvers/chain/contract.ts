import { requireReadable } from '../../access/entitlement/entitlement.ts';
import type { ChainRow } from '../../core/domain/chain/chain.ts';
import {
  compareContracts,
  contractId,
  type OptionContract,
  type OptionRight,
  readOptionContract,
} from '../../core/domain/chain/option-contract.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { chainAt } from '../captures-at.ts';
import { type ConnectionPage, connectionPage } from '../connection-page.ts';
import { findSymbol, type RequestContext, registeredSymbol, underlyingOf } from '../context.ts';
import { foreignCursor, ofInstant, readCursor } from '../cursor.ts';
import { type ChainFilter, chainFilter, latestChainRow } from './chain.ts';

/** Maximum number of contracts per page. */
export const contractsPageMax = 1000;

export interface ContractsArgs extends ChainFilter {
  first: number;
  after?: string | null | undefined;
  right?: OptionRight | null | undefined;
}

/** A contract of a registered underlying; 404 for another. */
export async function contractOf(context: RequestContext, id: string): Promise<OptionContract> {
  const contract = readOptionContract(id)!;
  await registeredSymbol(context, await underlyingOf(context, contract));
  return contract;
}

/** Throws unless the caller may read a contract: 404 outside the registry, 403 by the rule of its root's underlying. */
export async function requireContract(context: RequestContext, contract: OptionContract): Promise<void> {
  requireReadable(context.caller, await registeredSymbol(context, await underlyingOf(context, contract)));
}

/** The row of a contract in its underlying's latest chain; null if it is not listed there. */
export async function chainRowOf(context: RequestContext, contract: OptionContract): Promise<ChainRow | null> {
  const underlying = await underlyingOf(context, contract);
  requireReadable(context.caller, await findSymbol(context, underlying));
  return latestChainRow(context, underlying, contract);
}

/** The contracts of a symbol's latest chain, by expiry, strike, call before put. */
export async function listedContracts(
  context: RequestContext,
  symbol: string,
  args: ContractsArgs,
): Promise<ConnectionPage<OptionContract>> {
  if (args.first < 1) throw invalidParameter('first', 'expected 1 or more');
  const asked = [symbol, args.expiry, args.right, args.strikeGte, args.strikeLte].map((value) => value ?? '');
  const bound = [...asked, ...ofInstant(context)];
  const after = args.after == null ? null : readOptionContract(readCursor(args.after, bound, 'after'));
  if (args.after != null && after === null) throw foreignCursor('after');
  requireReadable(context.caller, await findSymbol(context, symbol));
  const matches = chainFilter(args);
  const capture = await chainAt(context, symbol);
  const all = (capture?.rows ?? []).filter((row) => matches(row) && (args.right == null || row.right === args.right));
  const start = after === null ? 0 : all.filter((row) => compareContracts(row, after) <= 0).length;
  const page = all.slice(start, start + Math.min(args.first, contractsPageMax));
  return connectionPage({
    nodes: page,
    position: contractId,
    bound,
    hasNextPage: start + page.length < all.length,
    hasPreviousPage: start > 0,
    totalCount: all.length,
  });
}
