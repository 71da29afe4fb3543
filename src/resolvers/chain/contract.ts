import { requireReadable, symbolAccess } from '../../access/entitlement/entitlement.ts';
import { volumeToOpenInterest } from '../../core/analytics/flow/unusual.ts';
import { sessionOf } from '../../core/domain/calendar.ts';
import { type ChainRow, unknownNumbers } from '../../core/domain/chain/chain.ts';
import {
  compareContracts,
  contractId,
  type OptionContract,
  type OptionRight,
  readOptionContract,
} from '../../core/domain/chain/option-contract.ts';
import { yieldForRows } from '../../platform/runtime/event-loop.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { chainAt } from '../captures-at.ts';
import {
  findSymbol,
  fromSource,
  type RequestContext,
  registeredSymbol,
  underlyingOf,
  withUnderlyings,
} from '../context.ts';
import { type ConnectionPage, connectionPage, foreignCursor, ofInstant, readCursor } from '../cursor.ts';
import type { SourceKey } from '../provenance.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource, openInterestSource } from '../source-keys.ts';
import { type ChainFilter, chainFilter, latestChainRow, rowIn } from './chain.ts';
import { interestIn, type LatestInterest, latestInterest, newerInterest } from './open-interest.ts';

/** Maximum number of contracts per page. */
export const contractsPageMax = 1000;

interface ContractsArgs extends ChainFilter {
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

export { volumeToOpenInterest };

/** Contracts one request may ask of. */
export const maxContracts = 250;

/** A contract's state by the latest chain of its underlying; all null if it is not listed there. */
export interface ContractSnapshot extends ChainRow {
  /** Epoch ms: when that chain was captured; null if the contract is not listed there. */
  capturedAt: number | null;
  /** Price of the underlying then, dollars; null when unknown. */
  spot: number | null;
}

export interface ContractSnapshotsMeta extends ResponseMeta {
  count: number;
  /** Contracts of the request that the caller may not read, once each, as path forms; null = none. */
  restricted: string[] | null;
}

export interface ContractSnapshots {
  rows: ContractSnapshot[];
  meta: ContractSnapshotsMeta;
}

function emptySnapshot(contract: OptionContract): ContractSnapshot {
  return { ...unknownNumbers, ...contract, capturedAt: null, spot: null };
}

function snapshotOf(latest: LatestInterest, contract: OptionContract): ContractSnapshot {
  const row = rowIn(latest.capture, contract);
  const openInterest = interestIn(latest, contract, row);
  if (row === null) return { ...emptySnapshot(contract), openInterest };
  const { capturedAt, spot } = latest.capture!;
  return { ...row, openInterest, capturedAt, spot };
}

/**
 * The latest chain and interest of underlyings; 'unknown' for one outside the registry, 'restricted' for one that may
 * not be read.
 */
async function latestOf(context: RequestContext, underlyings: ReadonlySet<string>) {
  const latest = new Map<string, LatestInterest | 'unknown' | 'restricted'>();
  const read = async (underlying: string) => {
    const entry = await findSymbol(context, underlying);
    if (!entry) latest.set(underlying, 'unknown');
    else if (!symbolAccess(context.caller, entry).allowed) latest.set(underlying, 'restricted');
    else latest.set(underlying, await latestInterest(context, underlying));
  };
  await Promise.all([...underlyings].map(read));
  return latest;
}

/** Sources of rows: the chain that lists each, and open interest that was published after it. */
async function snapshotSources(context: RequestContext, rows: readonly ContractSnapshot[]): Promise<SourceKey[]> {
  const captures = new Map<string, number>();
  for (const row of rows) if (row.capturedAt !== null) captures.set(await underlyingOf(context, row), row.capturedAt);
  const sources = Array.from(captures, async ([underlying, capturedAt]) => {
    const newer = await newerInterest(context, underlying);
    return [
      ...captureSource(underlying, { capturedAt, sessionDate: sessionOf(capturedAt) }),
      ...(newer ? [openInterestSource(underlying, newer.sessionDate)] : []),
    ];
  });
  return (await Promise.all(sources)).flat();
}

/**
 * One row a contract in the order asked, repeats included. A contract that no chain lists is an empty row; so is one
 * that may not be read, which is in `restricted` too.
 */
export async function contractSnapshots(context: RequestContext, ids: readonly string[]): Promise<ContractSnapshots> {
  if (ids.length === 0) throw invalidParameter('contracts', 'expected at least one contract');
  if (ids.length > maxContracts)
    throw invalidParameter('contracts', `expected at most ${maxContracts} contracts, got ${ids.length}`);
  const contracts = ids.map((id) => readOptionContract(id)!);
  const restricted = new Set<string>();
  const listed = await withUnderlyings(context, contracts);
  const latest = await fromSource(context, 'chain', () =>
    latestOf(context, new Set(listed.map(({ underlying }) => underlying))),
  );
  await yieldForRows(contracts.length);
  const rows = listed.map(({ underlying, contract }): ContractSnapshot => {
    const found = latest.get(underlying)!;
    if (typeof found === 'object') return snapshotOf(found, contract);
    if (found === 'restricted') restricted.add(contractId(contract));
    return emptySnapshot(contract);
  });
  return {
    rows,
    meta: {
      ...responseMeta(context, 'live', [], () => snapshotSources(context, rows)),
      count: rows.length,
      restricted: restricted.size > 0 ? [...restricted] : null,
    },
  };
}
