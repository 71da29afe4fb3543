import { symbolAccess } from '../../access/entitlement/entitlement.ts';
import { volumeToOpenInterest } from '../../analytics/chain/unusual-volume.ts';
import { sessionOf } from '../../domain/calendar.ts';
import { type ChainRow, unknownNumbers } from '../../domain/chain/chain.ts';
import { contractId, type OptionContract, readOptionContract } from '../../domain/chain/option-contract.ts';
import { yieldForRows } from '../../runtime/event-loop.ts';
import { invalidParameter } from '../../wire/failure.ts';
import { findSymbol, fromSource, type RequestContext, underlyingOf } from '../context.ts';
import type { SourceKey } from '../provenance.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { captureSource, openInterestSource } from '../source-keys.ts';
import { latestListing } from './chain.ts';
import { newerInterest, openInterestOf } from './open-interest.ts';

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

async function readSnapshot(
  context: RequestContext,
  underlying: string,
  contract: OptionContract,
): Promise<ContractSnapshot> {
  const [listing, openInterest] = await Promise.all([
    latestListing(context, underlying, contract),
    openInterestOf(context, contract),
  ]);
  if (listing === null) return { ...emptySnapshot(contract), openInterest };
  const { capturedAt, spot } = listing.capture;
  return { ...listing.row, openInterest, capturedAt, spot };
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
  const rows = await fromSource(context, 'chain', () =>
    Promise.all(
      contracts.map(async (contract): Promise<ContractSnapshot> => {
        const underlying = await underlyingOf(context, contract);
        const entry = await findSymbol(context, underlying);
        if (!entry) return emptySnapshot(contract);
        if (symbolAccess(context.caller, entry).allowed) return readSnapshot(context, underlying, contract);
        restricted.add(contractId(contract));
        return emptySnapshot(contract);
      }),
    ),
  );
  await yieldForRows(rows.length);
  // In the order asked: what is found out side by side comes in any.
  const listed = [...new Set(contracts.map(contractId))].filter((id) => restricted.has(id));
  return {
    rows,
    meta: {
      ...responseMeta(context, 'live', [], () => snapshotSources(context, rows)),
      count: rows.length,
      restricted: listed.length > 0 ? listed : null,
    },
  };
}
