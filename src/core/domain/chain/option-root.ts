import { closeMinute, sessionMinutes, tradingDayAtOrBefore } from '../calendar.ts';
import { exchangeInstant, type SessionDate } from '../market-time.ts';
import { knownRoots } from './known-roots.ts';
import type { ExerciseStyle, RootEntry, Settlement } from './root-entry.ts';

/** Properties that a root's contracts share (methodology 2, 7). */
export interface OptionRoot {
  root: string;
  /** The ticker whose price the option follows, and whose entitlement applies. */
  underlying: string;
  style: ExerciseStyle;
  settlement: Settlement;
  /** Shares (or index units) per contract that premiums and exposures assume. */
  multiplier: number;
  /** The same if known: null for an adjusted deliverable without stated terms. */
  sharesPerContract: number | null;
  /** False if its options are on a forward of the underlying that parity with the spot does not bind (VIX). */
  followsSpot: boolean;
  /** True for a deliverable changed by a corporate action: in flow, but not in GEX. */
  adjusted: boolean;
}

/** Roots known in addition to the built-in list. Plain data, which can be sent to another thread. */
export interface RootReference {
  /** Rows of the dataset `roots`. */
  entries: readonly RootEntry[];
  /** Tickers of class index. */
  indices: readonly string[];
}

/** Source of the properties of roots. */
export interface OptionRoots {
  /** The properties of a root in a session; without one, the last ones in force. */
  of(root: string, session?: SessionDate): OptionRoot;
}

/** Shares per contract of a standard deliverable. */
const standardMultiplier = 100;

function propertiesOf(entry: RootEntry): OptionRoot {
  const { root, underlying, style, settlement, multiplier, deliverable, onForwards } = entry;
  return {
    ...{ root, underlying, style, settlement },
    multiplier: multiplier ?? standardMultiplier,
    sharesPerContract: multiplier,
    followsSpot: !onForwards,
    adjusted: deliverable === 'adjusted',
  };
}

const isInForce = ({ from, to }: RootEntry, session: SessionDate | undefined) =>
  session === undefined || ((from ?? '') <= session && (to === null || session <= to));

/**
 * The properties of roots: of a row of the dataset `roots`, else of the built-in list, else of the class of the
 * underlying. Options on an index are European, those on shares and funds American; both settle at the close. A
 * trailing digit marks an adjusted deliverable, whose terms are unknown without a row.
 */
export function optionRoots({ entries, indices }: RootReference): OptionRoots {
  const newestFirst = entries.toSorted((a, b) => ((a.from ?? '') < (b.from ?? '') ? 1 : -1));
  const stored = Map.groupBy(newestFirst, ({ root }) => root);
  const ours = new Map(knownRoots.map((entry) => [entry.root, entry]));
  const ofIndex = new Set(indices);
  const known = new Map<RootEntry, OptionRoot>();

  function entryOf(root: string, session: SessionDate | undefined): RootEntry | undefined {
    return stored.get(root)?.find((entry) => isInForce(entry, session)) ?? ours.get(root);
  }

  function properties(entry: RootEntry): OptionRoot {
    let found = known.get(entry);
    if (!found) {
      found = propertiesOf(entry);
      known.set(entry, found);
    }
    return found;
  }

  function ofItsName(root: string, session: SessionDate | undefined): OptionRoot {
    const adjusted = /^[A-Z]+\d$/.test(root);
    const base = adjusted ? root.slice(0, -1) : root;
    const entry = adjusted ? entryOf(base, session) : undefined;
    const underlying = entry?.underlying ?? base;
    return {
      ...{ root, underlying, settlement: entry?.settlement ?? 'pm' },
      style: entry?.style ?? (ofIndex.has(underlying) ? 'european' : 'american'),
      multiplier: standardMultiplier,
      sharesPerContract: adjusted ? null : standardMultiplier,
      followsSpot: !(entry?.onForwards ?? false),
      adjusted,
    };
  }

  return {
    of(root, session) {
      const entry = entryOf(root, session);
      return entry ? properties(entry) : ofItsName(root, session);
    },
  };
}

/** The built-in list, for a store without other roots and tickers. */
export const standardRoots: OptionRoots = optionRoots({ entries: [], indices: [] });

/**
 * The last session of contracts that are dated `expiry`: that date, or the trading day before it. Monthly expiries
 * before February 2015 are dated Saturday.
 */
export function lastSession(expiry: SessionDate): SessionDate {
  return tradingDayAtOrBefore(expiry);
}

/**
 * A contract's last instant, at which its settlement value is fixed: 09:30 or the close (16:00, half day 13:00) of its
 * last session, New York.
 */
export function lastInstant(expiry: SessionDate, settlement: Settlement): number {
  const session = lastSession(expiry);
  return exchangeInstant(session, settlement === 'am' ? sessionMinutes.open : closeMinute(session));
}
