import { LRUCache } from 'lru-cache';
import type { ChainFile } from '../../core/domain/chain/chain.ts';
import type { ContractList } from '../../core/domain/chain/contract-list.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import { findRows } from '../rows/models/sets.ts';
import { nullable, statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { decodeBlock, numbers, texts } from '../series/codec.ts';

/** A stored capture, without its rows. */
export interface CaptureOutline extends Omit<ChainFile, 'hash' | 'name'> {
  /** Hash and name of its file, the latest of several; null = unknown. */
  hash: string | null;
  name: string | null;
  /** The files that it was made of, in order; null = one. */
  files: readonly ChainFile[] | null;
  /** True if it is not published. */
  subset: boolean;
  /** True if there was no capture to compare it with. */
  alone: boolean;
  /** True if it holds contracts of captures before it that are stored beside it, as an earlier version wrote it. */
  isJoined: boolean;
  /** Content hash of what it lists; null = unknown. */
  listing: string | null;
}

const outlined = [
  'capturedAt',
  'delayMs',
  'spot',
  'priorCloseSpot',
  'partial',
  'listing',
  'fileHash',
  'fileName',
  'files',
  'subset',
  'alone',
  'joined',
] as const;

/** The captures of an underlying's session, ascending, inside the caller's transaction. One statement. */
export async function sessionCaptures(
  tx: Transaction,
  underlying: string,
  sessionDate: SessionDate,
): Promise<CaptureOutline[]> {
  const keys = { by: ['underlying', 'sessionDate'] as const, keys: [{ underlying, sessionDate }] };
  const rows = await findRows(tx, 'ChainCapture', keys, outlined);
  return rows
    .map(({ fileHash: hash, fileName: name, subset, alone, joined, files, ...header }) => ({
      ...header,
      hash,
      name,
      files: files as unknown as ChainFile[] | null,
      subset: subset === true,
      alone: alone === true,
      isJoined: joined.length > 0,
    }))
    .sort((a, b) => a.capturedAt - b.capturedAt);
}

/** The sessions with captures of an underlying after one and up to another, ascending. */
export async function sessionsWithCaptures(
  { prisma }: Transaction,
  underlying: string,
  after: SessionDate,
  through: SessionDate,
): Promise<SessionDate[]> {
  const found = await prisma.chainCapture.groupBy({
    by: ['sessionDate'],
    where: { underlying, sessionDate: { gt: after, lte: through } },
    orderBy: { sessionDate: 'asc' },
  });
  return found.map(({ sessionDate }) => sessionDate);
}

/** Listing of a stored capture. `part`: index of the file that has each contract; null = it was made of one. */
export interface StoredListing {
  contracts: ContractList;
  part: Float64Array | null;
}

/** Reads the listing of a stored capture, inside the caller's transaction. */
export async function listedContracts(tx: Transaction, underlying: string, capturedAt: number): Promise<StoredListing> {
  const keys = { by: ['underlying', 'capturedAt'] as const, keys: [{ underlying, capturedAt }] };
  const [stored] = await findRows(tx, 'ChainCapture', keys, ['payload']);
  const columns = decodeBlock(stored!.payload, ['root', 'expiry', 'put', 'strike', 'part']);
  const [day, put, strike] = [numbers(columns, 'expiry'), numbers(columns, 'put'), numbers(columns, 'strike')];
  const part = columns.part === undefined ? null : numbers(columns, 'part');
  return { contracts: { root: texts(columns, 'root'), day, put, strike }, part };
}

/** The contracts of an underlying's stored captures. What several list is read once. */
export class StoredListings {
  readonly #tx: Transaction;
  readonly #underlying: string;
  readonly #read = new LRUCache<string, ContractList>({ max: 4 });

  constructor(tx: Transaction, underlying: string) {
    this.#tx = tx;
    this.#underlying = underlying;
  }

  /** Reads the contracts of a capture. */
  async contractsOf({ capturedAt, listing }: Pick<CaptureOutline, 'capturedAt' | 'listing'>): Promise<ContractList> {
    const known = listing === null ? undefined : this.#read.get(listing);
    if (known) return known;
    const { contracts } = await listedContracts(this.#tx, this.#underlying, capturedAt);
    if (listing !== null) this.#read.set(listing, contracts);
    return contracts;
  }
}

/** The largest capture of some sessions, with which others are compared. */
export interface ReferenceCapture {
  capturedAt: number;
  /** Number of pairs of expiry and right; of a capture of before it was stored, of expiries with both. */
  expiryRights: number;
  rowCount: number;
  /** Content hash of what it lists; null = unknown. */
  listing: string | null;
  /** Time of the first of the compared captures, epoch ms. */
  firstMs: number;
}

const largest = statement(
  'chain/reference-captures',
  { underlyings: 'text[]', since: 'text[]', through: 'text[]', without: 'int8[]' },
  {
    nth: 'int8',
    ...nullable({ capturedAt: 'int8', expiryRights: 'int4', rowCount: 'int4', listing: 'text?', firstMs: 'int8' }),
  },
);

/**
 * The capture of an underlying with the most pairs of expiry and right of each span of sessions, then the most
 * contracts, then the first; null = none. Those of `without`, epoch ms, are omitted. Inside the caller's transaction;
 * one statement.
 */
export async function referenceCaptures(
  tx: Transaction,
  underlying: string,
  spans: readonly { since: SessionDate; through: SessionDate }[],
  without: readonly number[],
): Promise<(ReferenceCapture | null)[]> {
  const [since, through] = [spans.map((span) => span.since), spans.map((span) => span.through)];
  const rows = await largest.rows(tx, { underlyings: spans.map(() => underlying), since, through, without });
  return rows.map(({ nth: _, capturedAt, expiryRights, rowCount, listing, firstMs }) =>
    capturedAt === null
      ? null
      : { capturedAt, expiryRights: expiryRights!, rowCount: rowCount!, listing, firstMs: firstMs! },
  );
}
