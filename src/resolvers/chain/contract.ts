import { requireSymbol } from '../../access/entitlement/entitlement.ts';
import type { ChainRow } from '../../domain/chain/chain.ts';
import {
  compareContracts,
  contractId,
  type OptionContract,
  type OptionRight,
  readOptionContract,
} from '../../domain/chain/option-contract.ts';
import { underlyingOf } from '../../domain/chain/option-root.ts';
import { invalidParameter } from '../../domain/failure.ts';
import { type RequestContext, registeredSymbol } from '../context.ts';
import { foreignCursor, readCursor, writeCursor } from '../cursor.ts';
import { requireReadable } from '../gex/gex.ts';
import { type ChainFilter, chainAt, chainFilter, latestChainRow } from './chain.ts';

/** Contracts a page holds at most. */
export const contractsPageMax = 1000;

export interface ContractsArgs extends ChainFilter {
  first: number;
  after?: string | null | undefined;
  right?: OptionRight | null | undefined;
}

/** A page of contracts. */
export interface ContractsPage {
  edges: { cursor: string; node: OptionContract }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  /** All that match. */
  totalCount: number;
}

/** A contract of a registered underlying; 404 for another. */
export async function contractOf(context: RequestContext, id: string): Promise<OptionContract> {
  const contract = readOptionContract(id)!;
  await registeredSymbol(context, underlyingOf(contract.root));
  return contract;
}

/** Throws unless the caller may read a contract: 404 outside the registry, 403 by the rule of its root's underlying. */
export async function requireContract(context: RequestContext, contract: OptionContract): Promise<void> {
  requireSymbol(context.caller, await registeredSymbol(context, underlyingOf(contract.root)));
}

/** The row of a contract in its underlying's latest chain; null when it is not listed there. */
export async function chainRowOf(context: RequestContext, contract: OptionContract): Promise<ChainRow | null> {
  const underlying = underlyingOf(contract.root);
  await requireReadable(context, underlying);
  return latestChainRow(context, underlying, contract);
}

/** The contracts of a symbol's latest chain, by expiry, strike, call before put. */
export async function listedContracts(
  context: RequestContext,
  symbol: string,
  args: ContractsArgs,
): Promise<ContractsPage> {
  if (args.first < 1) throw invalidParameter('first', 'expected 1 or more');
  const bound = [symbol, args.expiry, args.right, args.strikeGte, args.strikeLte].map((value) => value ?? '');
  const after = args.after == null ? null : readOptionContract(readCursor(args.after, bound, 'after'));
  if (args.after != null && after === null) throw foreignCursor('after');
  await requireReadable(context, symbol);
  const matches = chainFilter(args);
  const capture = await chainAt(context, symbol, context.nowMs);
  const all = (capture?.rows ?? []).filter((row) => matches(row) && (args.right == null || row.right === args.right));
  const start = after === null ? 0 : all.filter((row) => compareContracts(row, after) <= 0).length;
  const page = all.slice(start, start + Math.min(args.first, contractsPageMax));
  const edges = page.map((node) => ({ cursor: writeCursor(contractId(node), bound), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: start + page.length < all.length,
      hasPreviousPage: start > 0,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: all.length,
  };
}
