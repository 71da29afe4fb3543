// The store of a gateway that keeps its promises: every accepted print, by symbol and session, and what waits.

import { closeOf, openOf, sessionOf } from './calendar.ts';
import type { Print } from './world.ts';

/** A session of a symbol, in a report. */
export interface PartReport {
  session: string;
  symbol: string;
  /** Number of prints. */
  count: number;
}

/** Expected report of a call on its files' prints. */
export interface TapeReport {
  /** Written parts; `before`: prints that were stored. */
  written: (PartReport & { before: number })[];
  waiting: PartReport[];
  /** Parts that lack prints that are stored. */
  fewer: PartReport[];
  sealed: PartReport[];
}

export const keyOf = (symbol: string, session: string): string => `${symbol} ${session}`;
const venueOf = (print: Print) => `${print.exchange} ${print.trf}`;
const dataOf = ({ ms, nanos, price, size }: Print) => `${ms} ${nanos} ${price} ${size}`;

/** True if an id of one venue's session stands for several prints: ids of that venue then identify nothing. */
function collide(prints: readonly Print[]): boolean {
  const seen = new Map<string, string>();
  for (const print of prints) {
    if (print.correction !== 0) continue;
    const data = dataOf(print);
    if ((seen.get(print.id) ?? data) !== data) return true;
    seen.set(print.id, data);
  }
  return false;
}

/** The prints of sources (files, or what is stored) of one symbol's session by identity (methodology 13). */
function identified(sources: readonly (readonly Print[])[]): Map<string, Print[]>[] {
  const venues = new Map<string, Print[]>();
  for (const print of sources.flat()) venues.set(venueOf(print), [...(venues.get(venueOf(print)) ?? []), print]);
  const colliding = new Set([...venues].filter(([, prints]) => collide(prints)).map(([venue]) => venue));
  return sources.map((prints) => {
    const found = new Map<string, Print[]>();
    const counts = new Map<string, number>();
    for (const print of prints) {
      let name = `${venueOf(print)} ${print.id}`;
      if (colliding.has(venueOf(print))) {
        const equal = `${venueOf(print)} ${dataOf(print)} ${print.conditions}`;
        counts.set(equal, (counts.get(equal) ?? 0) + 1);
        name = `${equal} #${counts.get(equal)}`;
      }
      const records = found.get(name) ?? [];
      const isRepeat = records.some((each) => each.correction === print.correction && each.sequence === print.sequence);
      found.set(name, isRepeat ? records : [...records, print]);
    }
    return found;
  });
}

/** The prints of several sources as those of one. */
function joined(sources: readonly (readonly Print[])[]): Print[] {
  const all = new Map<string, Print[]>();
  for (const source of identified(sources)) {
    for (const [name, records] of source) {
      const known = all.get(name) ?? [];
      const isNew = (print: Print) =>
        !known.some(({ correction, sequence }) => correction === print.correction && sequence === print.sequence);
      all.set(name, [...known, ...records.filter(isNew)]);
    }
  }
  return [...all.values()].flat();
}

const tradesOf = (prints: readonly Print[]) => identified([prints])[0]!.size;

/** Number of prints of `stored` that `prints` lack. */
function lacking(prints: readonly Print[], stored: readonly Print[]): number {
  const [now, before] = identified([prints, stored]);
  return [...before!.keys()].filter((name) => !now!.has(name)).length;
}

/** The prints that stand after corrections, in order of time (methodology 5). */
export function standing(prints: readonly Print[]): Print[] {
  const found = [...identified([prints])[0]!.values()].flatMap((records) => {
    if (records.some(({ correction }) => [7, 8, 10, 11].includes(correction))) return [];
    return records
      .filter(({ correction }) => correction === 1)
      .slice(-1)
      .concat(records)
      .slice(0, 1);
  });
  return found.sort((a, b) => a.ms - b.ms || a.nanos - b.nanos || a.sequence - b.sequence);
}

export class Book {
  /** Stored prints by `keyOf`. */
  readonly tapes = new Map<string, Print[]>();
  readonly waiting = new Map<string, Print[]>();
  readonly seals = new Set<string>();

  /** The stored prints of a symbol's session. */
  printsOf(symbol: string, session: string): Print[] {
    return standing(this.tapes.get(keyOf(symbol, session)) ?? []);
  }

  /** The sessions of a symbol with stored prints, ascending. */
  sessionsOf(symbol: string): string[] {
    const own = [...this.tapes.keys()].filter((key) => key.startsWith(`${symbol} `));
    return own.map((key) => key.slice(symbol.length + 1)).sort();
  }

  isSealed(symbol: string, session: string): boolean {
    return this.seals.has(keyOf('all', session)) || this.seals.has(keyOf(symbol, session));
  }

  /** Takes files as parts of one tape. `only`: a reconciliation of this session. */
  takeTape(files: readonly (readonly Print[])[], { replace = false, only = null as string | null } = {}): TapeReport {
    const report: TapeReport = { written: [], waiting: [], fewer: [], sealed: [] };
    const all = files.flat();
    const sessions = new Set(all.map(({ ms }) => sessionOf(ms)));
    const isRegular = ({ ms }: Print) => ms >= openOf(sessionOf(ms)) && ms <= closeOf(sessionOf(ms));
    const regular = new Set(all.filter(isRegular).map(({ ms }) => sessionOf(ms)));
    const own = regular.size > 0 && !replace ? regular : sessions;
    for (const session of [...sessions].sort()) {
      if (only !== null && session !== only) continue;
      const ofSession = files.map((file) => file.filter(({ ms }) => sessionOf(ms) === session));
      for (const symbol of [...new Set(ofSession.flat().map((print) => print.symbol))].sort()) {
        const sources = ofSession.map((file) => file.filter((print) => print.symbol === symbol));
        const part = { symbol, session, sources, replace };
        if (own.has(session)) this.#write(part, regular.has(session), report);
        else this.#putAside(part, report);
      }
    }
    return report;
  }

  #write(part: TapePart, isRegular: boolean, report: TapeReport): void {
    const { symbol, session, sources, replace } = part;
    const key = keyOf(symbol, session);
    const prints = joined(replace ? sources : [...sources, this.waiting.get(key) ?? []]);
    const [stored, count] = [this.tapes.get(key), tradesOf(prints)];
    if (!replace && stored && lacking(prints, stored) > 0) {
      report.fewer.push({ symbol, session, count });
      return;
    }
    report.written.push({ symbol, session, count, before: stored ? tradesOf(stored) : 0 });
    this.tapes.set(key, prints);
    // Prints outside of regular hours also wait for the tape of the day.
    if (!isRegular && !replace) this.waiting.set(key, joined([prints, this.waiting.get(key) ?? []]));
  }

  #putAside({ symbol, session, sources }: TapePart, report: TapeReport): void {
    const key = keyOf(symbol, session);
    const [prints, stored] = [joined(sources), this.tapes.get(key)];
    const count = tradesOf(prints);
    if (stored && lacking(prints, stored) > 0) report.fewer.push({ symbol, session, count });
    else {
      report.waiting.push({ symbol, session, count });
      this.waiting.set(key, joined([prints, this.waiting.get(key) ?? []]));
    }
  }
}

interface TapePart {
  symbol: string;
  session: string;
  sources: Print[][];
  replace: boolean;
}
