import { closeMinute, sessionMinutes, tradingDayAtOrBefore } from '../calendar.ts';
import { exchangeInstant, type SessionDate } from '../market-time.ts';

type Terms = Omit<RootEntry, 'root' | 'underlying' | 'multiplier' | 'deliverable' | 'onForwards' | 'from' | 'to'>;

const europeanAm: Terms = { style: 'european', settlement: 'am' };
const europeanPm: Terms = { style: 'european', settlement: 'pm' };
const americanPm: Terms = { style: 'american', settlement: 'pm' };

const entry = (root: string, underlying: string, terms: Terms, onForwards = false): RootEntry => ({
  root,
  underlying,
  ...terms,
  multiplier: 100,
  deliverable: 'standard',
  onForwards,
  from: null,
  to: null,
});

/**
 * Roots with well-known terms; a row of the dataset `roots` overrides one. Sources: the contract specifications of Cboe
 * and Nasdaq for their index options, and the OCC's convention for share classes.
 */
export const knownRoots: readonly RootEntry[] = [
  // S&P: the standard monthly root settles at the open, its weekly and daily twin at the close.
  entry('SPX', 'SPX', europeanAm),
  entry('SPXW', 'SPX', europeanPm),
  entry('XSP', 'XSP', europeanPm),
  entry('OEX', 'OEX', americanPm),
  entry('XEO', 'XEO', europeanPm),
  // Nasdaq-100: full size, a fifth and a hundredth.
  entry('NDX', 'NDX', europeanAm),
  entry('NDXP', 'NDX', europeanPm),
  entry('NQX', 'NQX', europeanPm),
  entry('XND', 'XND', europeanPm),
  // Russell: the 2000 in full and a tenth, the 1000 and its growth and value parts.
  entry('RUT', 'RUT', europeanAm),
  entry('RUTW', 'RUT', europeanPm),
  entry('MRUT', 'MRUT', europeanPm),
  entry('RUI', 'RUI', europeanAm),
  entry('RLG', 'RLG', europeanAm),
  entry('RLV', 'RLV', europeanAm),
  entry('DJX', 'DJX', europeanAm),
  // Volatility: both roots settle at the open, on a forward that parity with the spot does not bind.
  entry('VIX', 'VIX', europeanAm, true),
  entry('VIXW', 'VIX', europeanAm, true),
  // Shares whose ticker has a suffix.
  entry('BRKA', 'BRK.A', americanPm),
  entry('BRKB', 'BRK.B', americanPm),
  entry('BFA', 'BF.A', americanPm),
  entry('BFB', 'BF.B', americanPm),
];

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
interface RootReference {
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
    root,
    underlying,
    style,
    settlement,
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
      root,
      underlying,
      settlement: entry?.settlement ?? 'pm',
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

export type ExerciseStyle = 'european' | 'american';
/** Time at which the contract's value is fixed on its expiry date: the open (AM) or the close (PM). */
export type Settlement = 'am' | 'pm';

/** Deliverable of a root's contracts: the standard lot, or the result of a corporate action. */
export type Deliverable = 'standard' | 'adjusted';

/** A line of the dataset `roots`: the terms of a root's contracts in the sessions from `from` to `to`. */
export interface RootEntry {
  root: string;
  /** The ticker whose price the option follows, and whose entitlement applies. */
  underlying: string;
  style: ExerciseStyle;
  settlement: Settlement;
  /**
   * Shares (or index units) per contract; null = unknown, for example for an adjusted deliverable without stated terms.
   */
  multiplier: number | null;
  deliverable: Deliverable;
  /** True if its options are on a forward of the underlying that parity with the spot does not bind (VIX). */
  onForwards: boolean;
  /** First and last session, included; null = no bound. */
  from: SessionDate | null;
  to: SessionDate | null;
}
