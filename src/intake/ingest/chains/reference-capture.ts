import { type Completeness, completeness } from '../../../core/analytics/chain/chain-files.ts';
import { methodologySettings } from '../../../core/analytics/methodology.ts';
import { nextTradingDay, previousTradingDay } from '../../../core/domain/calendar.ts';
import type { ChainCapture } from '../../../core/domain/chain/chain.ts';
import { type ContractList, contractList, expiryRights } from '../../../core/domain/chain/contract-list.ts';
import type { OptionRoots } from '../../../core/domain/chain/option-root.ts';
import type { Split } from '../../../core/domain/market/splits.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import {
  type ReferenceCapture,
  referenceCaptures,
  type StoredListings,
  sessionsWithCaptures,
} from '../../../store/chain/capture-outlines.ts';
import { splitsIn } from '../../../store/market/splits.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';

const { wholeSessions } = methodologySettings;

/** Place of a capture among those of its underlying. */
export interface Placement {
  /** True if it is not published. */
  subset: boolean;
  /** True if there was no capture to compare it with. */
  alone: boolean;
  /** Completeness beside the capture of an instant; null if it was compared with none. */
  of: (Completeness & { capturedAt: number }) | null;
}

/** The session a number of sessions after another. */
function sessionsFrom(session: SessionDate, count: number): SessionDate {
  let found = session;
  for (let i = 0; i < Math.abs(count); i++) found = count < 0 ? previousTradingDay(found) : nextTradingDay(found);
  return found;
}

const whole: Placement = { subset: false, alone: false, of: null };

/** True if a capture is compared with, rather than another. */
function isLarger(a: ReferenceCapture, b: ReferenceCapture): boolean {
  return (a.expiryRights - b.expiryRights || a.rowCount - b.rowCount || b.capturedAt - a.capturedAt) > 0;
}

/** An underlying, and what its captures are compared by. */
interface ReferenceSettings {
  underlying: string;
  roots: OptionRoots;
  listings: StoredListings;
}

/**
 * The captures with which those of a session and of the next ones are compared (methodology 13), while captures of the
 * session change.
 */
export class SessionReferences {
  readonly #tx: Transaction;
  readonly #underlying: string;
  readonly #roots: OptionRoots;
  readonly #listings: StoredListings;
  /** The session, and those of the next ones that have captures. */
  readonly sessions: readonly SessionDate[];
  readonly #spans: ReturnType<typeof spansOf>;
  readonly #before: readonly (ReferenceCapture | null)[];
  #after: readonly (ReferenceCapture | null)[] = [];
  #changed: ReadonlyMap<number, ContractList> = new Map();

  constructor(
    tx: Transaction,
    { underlying, roots, listings, spans }: ReferenceSettings & { spans: ReturnType<typeof spansOf> },
    sessions: readonly SessionDate[],
    before: readonly (ReferenceCapture | null)[],
  ) {
    this.#tx = tx;
    this.#underlying = underlying;
    this.#roots = roots;
    this.#listings = listings;
    this.#spans = spans;
    this.sessions = sessions;
    this.#before = before;
  }

  /** Finds the captures to compare with once these captures are stored and those of `gone` are not. */
  async change(captures: readonly ChainCapture[], gone: readonly number[]): Promise<void> {
    const lists = captures.map(({ capturedAt, rows }) => [capturedAt, contractList(rows)] as const);
    this.#changed = new Map(lists);
    const coming = lists.map(([capturedAt, list]): ReferenceCapture => {
      const size = { expiryRights: expiryRights(list), rowCount: list.root.length };
      return { capturedAt, ...size, listing: null, firstMs: capturedAt };
    });
    const without = [...this.#changed.keys(), ...gone];
    const rest = await referenceCaptures(this.#tx, this.#underlying, this.#spans, without);
    this.#after = rest.map((stored) => {
      const all = stored === null ? coming : [stored, ...coming];
      if (all.length === 0) return null;
      const firstMs = Math.min(...all.map((each) => each.firstMs));
      return { ...all.reduce((most, each) => (isLarger(each, most) ? each : most)), firstMs };
    });
  }

  /** True if captures of a session that do not change may be placed otherwise. */
  isMoved(session: SessionDate): boolean {
    const index = this.sessions.indexOf(session);
    const [before, after] = [this.#before[index] ?? null, this.#after[index] ?? null];
    if (before === null || after === null) return before !== after;
    const isOther = before.capturedAt !== after.capturedAt || before.firstMs !== after.firstMs;
    return isOther || this.#changed.has(after.capturedAt);
  }

  /** Finds the place of a capture. `listing`: the hash of its contracts, if it is stored. */
  async place(
    capture: Pick<ChainCapture, 'capturedAt' | 'delayMs' | 'sessionDate'>,
    listing: string | null = null,
  ): Promise<Placement> {
    const reference = this.#after[this.sessions.indexOf(capture.sessionDate)] ?? null;
    const { capturedAt } = capture;
    if (reference === null) return whole;
    if (reference.capturedAt === capturedAt) return { ...whole, alone: reference.firstMs === capturedAt };
    if (listing !== null && listing === reference.listing) return whole;
    const own = this.#changed.get(capturedAt) ?? (await this.#listings.contractsOf({ capturedAt, listing }));
    const other = this.#changed.get(reference.capturedAt) ?? (await this.#listings.contractsOf(reference));
    const of = completeness(capture, own, other, this.#roots);
    return { subset: of.lacking > 0, alone: false, of: { ...of, capturedAt: reference.capturedAt } };
  }
}

/** The sessions with which those of each session are compared: none of before a split, which changes all strikes. */
const spansOf = (sessions: readonly SessionDate[], splits: readonly Split[]) =>
  sessions.map((through) => {
    const first = sessionsFrom(through, -wholeSessions);
    const split = splits.findLast(({ exDate }) => exDate > first && exDate <= through);
    return { since: split?.exDate ?? first, through };
  });

/** The captures with which those of a session and of the next ones are compared, as they are stored. */
export async function sessionReferences(
  tx: Transaction,
  { sessionDate, ...settings }: ReferenceSettings & { sessionDate: SessionDate },
): Promise<SessionReferences> {
  const { underlying } = settings;
  const last = sessionsFrom(sessionDate, wholeSessions);
  const later = await sessionsWithCaptures(tx, underlying, sessionDate, last);
  const sessions = [sessionDate, ...later];
  const spans = spansOf(sessions, (await splitsIn(tx, [underlying])).get(underlying) ?? []);
  const before = await referenceCaptures(tx, underlying, spans, []);
  return new SessionReferences(tx, { ...settings, spans }, sessions, before);
}
