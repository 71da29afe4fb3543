import { areParts, hasMostOf, isSubset, type ListedShares, listedShares } from '../../analytics/chain/subset.ts';
import { methodologySettings } from '../../analytics/methodology.ts';
import { nextTradingDay, previousTradingDay } from '../../domain/calendar.ts';
import type { ChainCapture } from '../../domain/chain/chain.ts';
import { type ChainOutline, type ListedExpiry, outlineOf } from '../../domain/chain/chain-outline.ts';
import type { OptionRoots } from '../../domain/chain/option-root.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { capturesAround, listedExpiries, type PlacedCapture } from '../../store/chain/capture-outlines.ts';
import type { Transaction } from '../../store/rows/transaction.ts';

const { joinedSpanMs, wholeSessions } = methodologySettings;

/** Role of a capture among those of its underlying. */
export interface Placement {
  /** True if it is not published. */
  subset: boolean;
  /** The listings joined from captures before it, ascending, and the times of those captures, epoch ms. */
  joined: string[];
  parts: number[];
  /** Its share of the last whole capture, including joined listings, and the time of that capture; null without one. */
  of: (ListedShares & { capturedAt: number }) | null;
  /** Its contracts including joined ones; null = as stored. */
  listed: ReadonlyMap<string, ListedExpiry> | null;
}

/** A capture of the timeline; `listed` is read on demand. */
interface Entry extends PlacedCapture {
  /** Its contracts including joined ones; null = not read yet. */
  listed: ReadonlyMap<string, ListedExpiry> | null;
}

/** The session a number of sessions after another. */
function sessionsFrom(session: SessionDate, count: number): SessionDate {
  let found = session;
  for (let i = 0; i < Math.abs(count); i++) found = count < 0 ? previousTradingDay(found) : nextTradingDay(found);
  return found;
}

const published = { subset: false, joined: [], parts: [], of: null };

const isWhole = ({ subset, joined }: PlacedCapture) => !subset && joined.length === 0;

function union(outline: ChainOutline, parts: readonly ChainOutline[]): ChainOutline {
  return { ...outline, listed: new Map([outline, ...parts].flatMap(({ listed }) => [...listed])) };
}

/** The captures around one, with it in place of what is stored of its instant, ascending. */
async function entriesAround(tx: Transaction, capture: ChainCapture): Promise<Entry[]> {
  const { underlying, capturedAt, sessionDate } = capture;
  const stored = await capturesAround(tx, underlying, {
    ...{ fromMs: capturedAt - joinedSpanMs, through: sessionsFrom(sessionDate, wholeSessions) },
    ...{ beforeMs: capturedAt, since: sessionsFrom(sessionDate, -wholeSessions) },
  });
  const own: Entry = {
    ...outlineOf(capture),
    subset: false,
    joined: [],
    rowCount: capture.rows.length,
    openInterest: null,
  };
  return stored
    .filter((each) => each.capturedAt !== capturedAt)
    .map((each): Entry => ({ ...each, listed: null }))
    .concat(own)
    .sort((a, b) => a.capturedAt - b.capturedAt);
}

/**
 * The captures of an underlying around one that is about to be written, which is given with its own contracts alone.
 * The transaction must hold the captures.
 */
export async function captureTimeline(
  tx: Transaction,
  capture: ChainCapture,
  roots: OptionRoots,
): Promise<CaptureTimeline> {
  return new CaptureTimeline(tx, capture, await entriesAround(tx, capture), roots);
}

/** The captures of an underlying around one that is written, as they are placed. */
export class CaptureTimeline {
  readonly #tx: Transaction;
  readonly #underlying: string;
  readonly #roots: OptionRoots;
  readonly #entries: readonly Entry[];
  /** Those after it whose place may depend on it, ascending. */
  readonly later: readonly PlacedCapture[];

  constructor(
    tx: Transaction,
    { underlying, capturedAt }: Pick<ChainCapture, 'underlying' | 'capturedAt'>,
    entries: readonly Entry[],
    roots: OptionRoots,
  ) {
    this.#tx = tx;
    this.#underlying = underlying;
    this.#roots = roots;
    this.#entries = entries;
    this.later = entries.slice(this.#slotOf(capturedAt) + 1);
  }

  /** Finds what becomes of a capture, of which all before it were placed. */
  async place(capturedAt: number): Promise<Placement> {
    const slot = this.#slotOf(capturedAt);
    const entry = this.#entries[slot]!;
    const whole = this.#entries.slice(0, slot).findLast(({ subset }) => !subset);
    const isKnown = whole !== undefined && whole.sessionDate >= sessionsFrom(entry.sessionDate, -wholeSessions);
    if (!isKnown && entry.joined.length === 0) return { ...published, listed: null };
    const part = await this.#ownOutline(entry);
    if (!isKnown || hasMostOf(part, whole, this.#roots)) return { ...published, listed: part.listed };
    const reference = await this.#outline(whole);
    const shares = (of: ChainOutline) => listedShares(of, reference, this.#roots);
    if (!isSubset(shares(part))) return { ...published, listed: part.listed };
    const parts = await this.#partsBefore(slot, part);
    const { listed } = union(part, parts);
    const of = shares({ ...part, listed });
    const joined = parts.flatMap((each) => [...each.listed.keys()]).sort();
    const taken = parts.map((each) => each.capturedAt);
    return { subset: isSubset(of), joined, parts: taken, of: { ...of, capturedAt: whole.capturedAt }, listed };
  }

  /** Notes what became of a capture. */
  placed(capturedAt: number, { subset, joined, listed }: Placement): void {
    const entry = this.#entries[this.#slotOf(capturedAt)]!;
    Object.assign(entry, { subset, joined, listed: listed ?? entry.listed });
  }

  #slotOf(capturedAt: number): number {
    return this.#entries.findIndex((entry) => entry.capturedAt === capturedAt);
  }

  async #outline(entry: Entry): Promise<ChainOutline> {
    entry.listed ??= await listedExpiries(this.#tx, this.#underlying, entry.capturedAt);
    return { ...entry, listed: entry.listed };
  }

  /** Listing of a capture without what it takes of others. */
  async #ownOutline(entry: Entry): Promise<ChainOutline> {
    const { listed, ...rest } = await this.#outline(entry);
    if (entry.joined.length === 0) return { ...rest, listed };
    const others = new Set(entry.joined);
    return { ...rest, listed: new Map([...listed].filter(([key]) => !others.has(key))) };
  }

  /** The parts before a subset that complete it: the nearest first, and none beyond a whole capture. */
  async #partsBefore(slot: number, part: ChainOutline): Promise<ChainOutline[]> {
    const found: ChainOutline[] = [];
    for (const entry of this.#entries.slice(0, slot).reverse()) {
      if (isWhole(entry) || entry.sessionDate !== part.sessionDate) break;
      if (part.capturedAt - entry.capturedAt > joinedSpanMs) break;
      const other = await this.#ownOutline(entry);
      if (areParts(union(part, found), other)) found.push(other);
    }
    return found;
  }
}
