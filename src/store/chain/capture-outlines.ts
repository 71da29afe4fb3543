import { type ChainOutline, createListing, type ListedExpiry } from '../../domain/chain/chain-outline.ts';
import { dateOfEpochDay, type SessionDate } from '../../domain/market-time.ts';
import { statement } from '../rows/statement.ts';
import type { Transaction } from '../rows/transaction.ts';
import { decodeBlock, known, measures, numbers, texts } from '../series/codec.ts';

/** A stored capture, without its rows. */
export interface PlacedCapture extends Omit<ChainOutline, 'listed'> {
  /** True if it is not published. */
  subset: boolean;
  /** The listings (`listingKey`) joined from captures shortly before; empty = none. */
  joined: readonly string[];
  /** Number of its contracts, including expired ones, and of those outstanding; null = unknown. */
  rowCount: number;
  openInterest: number | null;
}

/** Range of captures of an underlying; sessions inclusive, instants epoch ms. */
export interface CapturesAround {
  /** All from an instant on up to a session. */
  fromMs: number;
  through: SessionDate;
  /** The last published one before an instant, of a session or a later one. */
  beforeMs: number;
  since: SessionDate;
}

const around = statement(
  'chain/captures-around',
  { underlying: 'text', fromMs: 'int8', through: 'text', beforeMs: 'int8', since: 'text' },
  {
    ...({ capturedAt: 'int8', sessionDate: 'text', spot: 'float8?', delayMs: 'int4?', subset: 'bool?' } as const),
    ...({ joined: 'text[]', rowCount: 'int4', openInterest: 'int8?' } as const),
  },
);

/** Captures of an underlying, ascending, inside the caller's transaction. One statement. */
export async function capturesAround(
  tx: Transaction,
  underlying: string,
  wanted: CapturesAround,
): Promise<PlacedCapture[]> {
  const rows = await around.rows(tx, { underlying, ...wanted });
  return rows.map((row) => ({
    ...row,
    subset: row.subset === true,
    joined: ((row.joined as readonly (string | null)[] | null) ?? []).map((listing) => listing!),
  }));
}

/** Listing of a stored capture, including joined contracts; inside the caller's transaction. */
export async function listedExpiries(
  { prisma }: Transaction,
  underlying: string,
  capturedAt: number,
): Promise<Map<string, ListedExpiry>> {
  const { payload } = await prisma.chainCapture.findUniqueOrThrow({
    where: { underlying_capturedAt: { underlying, capturedAt } },
    select: { payload: true },
  });
  const columns = decodeBlock(payload);
  const [root, expiry] = [texts(columns, 'root'), numbers(columns, 'expiry')];
  const openInterest = measures(columns, 'openInterest');
  const { listed, add } = createListing();
  const dates = new Map(Array.from(new Set(expiry), (day) => [day, dateOfEpochDay(day)]));
  for (let i = 0; i < root.length; i++) add(root[i]!, dates.get(expiry[i]!)!, known(openInterest[i]!));
  return listed;
}
