import { dayMs } from '../../../platform/runtime/clock.ts';
import { type ChainCapture, type ChainRow, sourceTime } from '../../domain/chain/chain.ts';
import {
  lastInstant,
  lastSession,
  type OptionRoot,
  type OptionRoots,
  standardRoots,
} from '../../domain/chain/option-root.ts';
import { exchangeDate, type SessionDate } from '../../domain/market-time.ts';
import { fromThousandths } from '../../domain/units.ts';

/**
 * One listed strike of a group: the rows of its call and its put, as indices into the chain's rows; −1 = not listed.
 */
export interface ListedStrike {
  /** Integer thousandths, and dollars. */
  strike: number;
  dollars: number;
  call: number;
  put: number;
}

/** The contracts of one root and expiry, which share a forward. Strikes ascending. */
export interface ChainGroup {
  root: OptionRoot;
  expiry: SessionDate;
  years: number;
  strikes: ListedStrike[];
}

/** Shares per contract: the source's number, unless the root is known to be non-standard. */
export function resolveMultiplier({ root }: Pick<ChainGroup, 'root'>, { sharesPerContract }: ChainRow): number {
  return root.multiplier === 100 ? (sharesPerContract ?? 100) : root.multiplier;
}

/**
 * The contracts of a chain with exposures, by expiry and root. Omitted: expired ones, roots settled at the open of this
 * date, adjusted deliverables. The order of the groups and of their strikes does not depend on the order of the rows.
 */
export function groupChain(chain: ChainCapture, roots: OptionRoots = standardRoots): ChainGroup[] {
  const groups = strikesByGroup(chain);
  const live: ChainGroup[] = [];
  for (const key of [...groups.keys()].sort()) {
    const [expiry, name] = key.split(' ') as [SessionDate, string];
    const root = roots.of(name, chain.sessionDate);
    const years = yearsToExpiry(expiry, root, sourceTime(chain));
    if (root.adjusted || years <= 0) continue;
    live.push({ root, expiry, years, strikes: groups.get(key)! });
  }
  return live;
}

/** The listed strikes of a chain, ascending, by `expiry root`. */
export function strikesByGroup(chain: Pick<ChainCapture, 'rows'>): Map<string, ListedStrike[]> {
  const groups = new Map<string, Map<number, ListedStrike>>();
  chain.rows.forEach((row, index) => {
    const key = `${row.expiry} ${row.root}`;
    let strikes = groups.get(key);
    if (!strikes) {
      strikes = new Map();
      groups.set(key, strikes);
    }
    const listed = strikes.get(row.strike);
    if (!listed) strikes.set(row.strike, listedStrike(row, index));
    else if (listed[row.right] < 0) listed[row.right] = index;
  });
  const ascending = (strikes: Map<number, ListedStrike>) => [...strikes.values()].sort((a, b) => a.strike - b.strike);
  return new Map(Array.from(groups, ([key, strikes]) => [key, ascending(strikes)]));
}

/**
 * Selects the group of an expiry that settles last: an index's weekly root, settled at the close, before its monthly
 * one.
 */
export function settlingLast<Group extends Pick<ChainGroup, 'years'>>(groups: readonly Group[]): Group {
  return groups.reduce((last, group) => (group.years > last.years ? group : last));
}

function listedStrike({ strike, right }: ChainRow, index: number): ListedStrike {
  return {
    strike,
    dollars: fromThousandths(strike),
    call: right === 'call' ? index : -1,
    put: right === 'put' ? index : -1,
  };
}

/** Time left to `expiryMs` at `nowMs` in years of 365 days; 0 once it has passed. */
export function yearsUntil(expiryMs: number, nowMs: number): number {
  return Math.max(0, expiryMs - nowMs) / (365 * dayMs);
}

/**
 * Years left to contracts of `root` that are dated `expiry`; 0 if they have no exposure: expired, or settled at the
 * open of this date, when their value is almost fixed.
 */
export function yearsToExpiry(expiry: SessionDate, root: Pick<OptionRoot, 'settlement'>, nowMs: number): number {
  if (root.settlement === 'am' && lastSession(expiry) === exchangeDate(nowMs)) return 0;
  return yearsUntil(lastInstant(expiry, root.settlement), nowMs);
}
