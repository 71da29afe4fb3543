// The store of a gateway that keeps its promises: every accepted print, by symbol and session, and what waits.

import { closeOf, newYork, openOf, plusDays, sessionOf } from './calendar.ts';
import { type Bar, barsOf, longerBars, sideOf, type Timeframe } from './figures.ts';
import type { FileBar } from './vendors.ts';
import { contractPath, type Instrument, type Print, type Quote, tickerOf } from './world.ts';

/** A session of a symbol, in a report. */
export interface PartReport {
  session: string;
  symbol: string;
  /** Number of prints. */
  count: number;
}

/** Expected report of a call on its files' prints. */
export interface TapeReport {
  /** Written parts; `before`: prints that were stored, null = other data. */
  written: (PartReport & { before: number | null })[];
  waiting: PartReport[];
  /** Parts that lack prints that are stored. */
  fewer: PartReport[];
  sealed: PartReport[];
}

export const keyOf = (symbol: string, session: string): string => `${symbol} ${session}`;

/** The name of an instrument's bars: of a contract, its underlying's comes first. */
export const seriesOf = (of: Instrument): string => (of.contract ? `${of.symbol} ${tickerOf(of)}` : of.symbol);
const venueOf = (print: Print) => `${print.exchange} ${print.trf}${print.contract ? contractPath(print.contract) : ''}`;
const dataOf = ({ ms, nanos, price, size }: Print) => `${ms} ${nanos} ${price} ${size}`;

/** True if an id of one venue's session stands for several prints: ids of that venue then identify nothing. */
function collide(prints: readonly Print[]): boolean {
  // Files of options have none, and a venue whose ids once collided has none any more.
  if (prints.some(({ id }) => id === '')) return true;
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
      const isUnnamed = colliding.has(venueOf(print));
      if (isUnnamed) {
        const equal = `${venueOf(print)} ${dataOf(print)} ${print.conditions}`;
        counts.set(equal, (counts.get(equal) ?? 0) + 1);
        name = `${equal} #${counts.get(equal)}`;
      }
      const records = found.get(name) ?? [];
      const isRepeat =
        !print.contract &&
        records.some((each) => each.correction === print.correction && each.sequence === print.sequence);
      found.set(name, isRepeat ? records : [...records, isUnnamed ? { ...print, id: '' } : print]);
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
      // Sequences tell corrections apart, not trades.
      const isKnown = ({ correction, sequence }: Print) =>
        known.some((each) => each.correction === correction && (correction === 0 || each.sequence === sequence));
      all.set(name, [...known, ...records.filter((print) => !isKnown(print))]);
    }
  }
  return [...all.values()].flat();
}

const tradesOf = (prints: readonly Print[]) => identified([prints])[0]!.size;

/** Prints by venue and instant, the *n*-th of each. */
function places(prints: readonly Print[]): Set<string> {
  const counts = new Map<string, number>();
  return new Set(
    [...identified([prints])[0]!.values()].map(([print]) => {
      const place = `${venueOf(print!)} ${print!.ms} ${print!.nanos}`;
      counts.set(place, (counts.get(place) ?? 0) + 1);
      return `${place} #${counts.get(place)}`;
    }),
  );
}

/** Number of prints of `stored` that `prints` lack. */
function lacking(prints: readonly Print[], stored: readonly Print[]): number {
  const now = places(prints);
  return [...places(stored)].filter((place) => !now.has(place)).length;
}

const cancels = [201, 203, 205, 207];
const inTime = (a: Print, b: Print) => a.ms - b.ms || a.nanos - b.nanos || a.sequence - b.sequence;

/** Option prints that no cancel withdrew: the most recent of equal ones before it (methodology 3). */
function uncancelled(prints: readonly Print[]): Print[] {
  const left: Print[] = [];
  for (const print of [...prints].sort(inTime)) {
    if (!print.conditions.some((id) => cancels.includes(id))) left.push(print);
    else {
      const isOf = (each: Print) =>
        venueOf(each) === venueOf(print) && each.price === print.price && each.size === print.size;
      const at = left.findLastIndex(isOf);
      if (at >= 0) left.splice(at, 1);
    }
  }
  return left.filter(({ conditions }) => !conditions.includes(247));
}

/** The prints that stand after corrections, in order of time (methodology 5). */
export function standing(prints: readonly Print[]): Print[] {
  if (prints[0]?.contract) return uncancelled(prints);
  const found = [...identified([prints])[0]!.values()].flatMap((records) => {
    if (records.some(({ correction }) => [7, 8, 10, 11].includes(correction))) return [];
    return records
      .filter(({ correction }) => correction === 1)
      .slice(-1)
      .concat(records)
      .slice(0, 1);
  });
  return found.sort(inTime);
}

/** True if a stored bar need not be written again: the new one is the same, or has fewer figures. */
function isSame(known: Bar | undefined, bar: Bar, exactly: boolean): boolean {
  const figures = ['open', 'high', 'low', 'close', 'volume'] as const;
  if (!known || !figures.every((name) => known[name] === bar[name])) return false;
  return (['vwap', 'trade_count'] as const).every(
    (name) => known[name] === bar[name] || (!exactly && bar[name] === null),
  );
}

/** Quotes in order of time: of one instant, the last in sequence is in force. */
function inForce(quotes: readonly Quote[]): Quote[] {
  const last = new Map<string, Quote>();
  for (const quote of [...quotes].sort((a, b) => a.sequence - b.sequence))
    last.set(`${quote.ms} ${quote.nanos}`, quote);
  return [...last.values()].sort((a, b) => a.ms - b.ms || a.nanos - b.nanos);
}

const byContract = (quotes: readonly Quote[]) =>
  Map.groupBy(quotes, (quote) => keyOf(tickerOf(quote), sessionOf(quote.ms)));

const areSame = (some: readonly Quote[], others: readonly Quote[]) =>
  some.length === others.length &&
  some.every((a, i) => (['ms', 'nanos', 'bid', 'ask'] as const).every((name) => a[name] === others[i]![name]));

const within = (prints: readonly Print[], session: string) => prints.filter(({ ms }) => sessionOf(ms) === session);

export class Book {
  /** Stored prints by `keyOf`. */
  readonly tapes = new Map<string, Print[]>();
  /** Waiting prints, of each file that brought some: equal prints of two files are one. */
  readonly waiting = new Map<string, Print[][]>();
  /** Stored bars of a series and length by their start. */
  readonly #bars = new Map<string, Map<number, Bar>>();
  /** Lengths of a symbol's session whose bars came last from a file of bars. */
  readonly #barFiles = new Set<string>();
  /** Sessions of contracts whose bars are of a tape of a session in progress. */
  readonly #live = new Set<string>();
  /** Sessions of underlyings whose options are of a tape that was read before their end. */
  readonly #liveTapes = new Set<string>();
  /** Stored quotes by contract and session. */
  readonly #quotes = new Map<string, Quote[]>();
  /** Splits by symbol and ex-date. */
  readonly splits = new Map<string, { symbol: string; exDate: string; ratio: number }>();

  /** The stored prints of a symbol's session. */
  printsOf(symbol: string, session: string): Print[] {
    return standing(this.tapes.get(keyOf(symbol, session)) ?? []);
  }

  /** The sessions of a symbol with stored prints, ascending. */
  sessionsOf(symbol: string): string[] {
    const own = [...this.tapes.keys()].filter((key) => key.startsWith(`${symbol} `));
    return own.map((key) => key.slice(symbol.length + 1)).sort();
  }

  /** True if all that is stored of a symbol came as prints. */
  isOfPrints(symbol: string): boolean {
    return ![...this.#barFiles].some((key) => key.startsWith(`${symbol} `));
  }

  #barsAt(series: string, timeframe: '1s' | '1m' | '1d'): Map<number, Bar> {
    const key = `${series} ${timeframe}`;
    if (!this.#bars.has(key)) this.#bars.set(key, new Map());
    return this.#bars.get(key)!;
  }

  /** The stored bars of a series, ascending. */
  barsOf(series: string, timeframe: Timeframe): Bar[] {
    if (timeframe === '5m' || timeframe === '1h') return longerBars(this.barsOf(series, '1m'), timeframe);
    return [...this.#barsAt(series, timeframe).values()].sort((a, b) => a.ts_ms - b.ts_ms);
  }

  /** The series of a symbol's session with minutes, each as often as it has some. */
  #minutesOf(symbol: string, session: string): string[] {
    const own = [...this.#bars].filter(([key]) => key.startsWith(`${symbol} `) && key.endsWith(' 1m'));
    return own.flatMap(([key, bars]) =>
      [...bars.keys()].filter((start) => sessionOf(start) === session).map(() => key.replace(' 1m', '')),
    );
  }

  /** Numbers that tell the size of a session without a tape, and of prints: of minutes, or of contracts. */
  #sizes(symbol: string, session: string, prints: readonly Print[]): { known: number; own: number } {
    const minutes = this.#minutesOf(symbol, session);
    if (prints[0]?.contract) return { known: new Set(minutes).size, own: new Set(prints.map(seriesOf)).size };
    return { known: minutes.length, own: barsOf(standing(prints), session, '1m').length };
  }

  /** Replaces the bars of a session by those of its prints. */
  #writeBars(symbol: string, session: string, isLive = false): void {
    const isOf = (timeframe: string, start: number) =>
      timeframe === '1d' ? start === newYork(session) : sessionOf(start) === session;
    for (const [key, bars] of this.#bars)
      if (key.startsWith(`${symbol} `))
        for (const start of [...bars.keys()]) if (isOf(key.split(' ').at(-1)!, start)) bars.delete(start);
    for (const [series, prints] of Map.groupBy(this.printsOf(symbol, session), seriesOf)) {
      const timeframes = prints[0]!.contract ? (['1m'] as const) : (['1s', '1m', '1d'] as const);
      for (const timeframe of timeframes)
        for (const bar of barsOf(prints, session, timeframe)) this.#barsAt(series, timeframe).set(bar.ts_ms, bar);
      if (isLive) this.#live.add(keyOf(series, session));
      else this.#live.delete(keyOf(series, session));
    }
    for (const timeframe of ['1m', '1d']) this.#barFiles.delete(`${keyOf(symbol, session)} ${timeframe}`);
  }

  /**
   * Takes a file of bars: one of a time that is stored replaces it, unless it is poorer. A session of another file's
   * bars does not change if one of these has trades that the new one of its time lacks.
   */
  takeBars(timeframe: '1m' | '1d', file: readonly FileBar[], replace: boolean): TapeReport {
    const report: TapeReport = { written: [], waiting: [], fewer: [], sealed: [] };
    const ofFile: { symbol: string; session: string }[] = [];
    const sessionAt = (start: number) => (timeframe === '1d' ? sessionOf(start + 12 * 3_600_000) : sessionOf(start));
    for (const part of Map.groupBy(file, (of) => keyOf(seriesOf(of), sessionAt(of.bar.ts_ms))).values()) {
      const [{ symbol }, series, session] = [part[0]!, seriesOf(part[0]!), sessionAt(part[0]!.bar.ts_ms)];
      const [bars, key] = [this.#barsAt(series, timeframe), `${keyOf(symbol, session)} ${timeframe}`];
      const countOf = () => [...bars.keys()].filter((start) => sessionAt(start) === session).length;
      const lacks = ({ bar }: FileBar) => {
        const known = bars.get(bar.ts_ms);
        return known && known.volume !== bar.volume && !(bar.high >= known.high && bar.low <= known.low);
      };
      const before = countOf();
      const isLive = this.#live.has(keyOf(series, session));
      // A file covers a contract's whole session.
      const isLess = isLive ? part.length < before : this.#barFiles.has(key) && part.some(lacks);
      if (!replace && isLess) {
        report.fewer.push({ symbol, session, count: part.length });
        continue;
      }
      if (isLive) for (const start of [...bars.keys()]) if (sessionAt(start) === session) bars.delete(start);
      this.#live.delete(keyOf(series, session));
      const isNew = ({ contract, bar }: FileBar) => {
        const known = bars.get(bar.ts_ms);
        // The report of options also counts bars of which another volume set prices.
        const isWeighed = contract && replace && known && known.weight !== bar.weight;
        return isWeighed || !isSame(known, bar, replace);
      };
      const written = part.filter(isNew);
      for (const { bar } of replace ? part : written) bars.set(bar.ts_ms, bar);
      // Bars that replace equal ones take the sums of their prints away, and are of the file.
      if (replace || written.length > 0) ofFile.push({ symbol, session });
      if (written.length === 0) continue;
      report.written.push({ symbol, session, before, count: countOf() });
    }
    // A file of days speaks for all sessions between.
    for (const own of Map.groupBy(ofFile, ({ symbol }) => symbol).values()) {
      const changed = own.map(({ session }) => session).sort();
      const isOf = (session: string) =>
        timeframe === '1m' ? changed.includes(session) : session >= changed[0]! && session <= changed.at(-1)!;
      for (let session = changed[0]!; session <= changed.at(-1)!; session = plusDays(session, 1))
        if (isOf(session)) this.#barFiles.add(`${keyOf(own[0]!.symbol, session)} ${timeframe}`);
    }
    return report;
  }

  /**
   * Takes a file of quotes: those of a contract's session replace the stored ones, or are joined with them if they lack
   * minutes and those that both have are the same. Others are left.
   */
  takeQuotes(file: readonly Quote[], replace: boolean): TapeReport {
    const report: TapeReport = { written: [], waiting: [], fewer: [], sealed: [] };
    for (const [key, given] of byContract(file)) {
      const [{ symbol, ms }, quotes, stored] = [given[0]!, inForce(given), this.#quotes.get(key) ?? []];
      const part = { symbol, session: sessionOf(ms) };
      const byMinute = (all: readonly Quote[]) => Map.groupBy(all, (quote) => Math.floor(quote.ms / 60_000));
      const [before, now] = [byMinute(stored), byMinute(quotes)];
      const lacks = !replace && [...before].some(([minute, of]) => (now.get(minute)?.length ?? 0) < of.length);
      if (lacks && [...before].some(([minute, of]) => now.has(minute) && !areSame(of, now.get(minute)!))) {
        report.fewer.push({ ...part, count: quotes.length });
        continue;
      }
      const all = lacks ? inForce([...stored, ...quotes]) : quotes;
      if (areSame(all, stored)) continue;
      this.#quotes.set(key, all);
      report.written.push({ ...part, before: stored.length, count: all.length });
    }
    return report;
  }

  /** Adds prints of a live tape to their sessions. */
  follow(symbol: string, prints: readonly Print[]): void {
    for (const [session, own] of Map.groupBy(prints, ({ ms }) => sessionOf(ms))) {
      const key = keyOf(symbol, session);
      this.tapes.set(key, [...(this.tapes.get(key) ?? []), ...own]);
      this.#writeBars(symbol, session);
    }
  }

  isLive(symbol: string, session: string): boolean {
    return this.#liveTapes.has(keyOf(symbol, session));
  }

  /** Takes files as parts of one tape. `only`: a reconciliation of this session; `quotes`: given with the tape. */
  takeTape(
    files: readonly (readonly Print[])[],
    { replace = false, only = null as string | null, nowMs = Infinity, quotes = null as readonly Quote[] | null } = {},
  ): TapeReport {
    const report: TapeReport = { written: [], waiting: [], fewer: [], sealed: [] };
    const sessions = [...new Set(files.flat().map(({ ms }) => sessionOf(ms)))].sort();
    const ofSession = new Map(sessions.map((session) => [session, files.map((file) => within(file, session))]));
    const given = quotes && new Map([...byContract(quotes)].map(([key, own]) => [key, inForce(own)]));
    const isRegular = ({ ms }: Print, session: string) => ms >= openOf(session) && ms <= closeOf(session);
    const hasOwn = sessions.some((session) =>
      ofSession
        .get(session)!
        .flat()
        .some((print) => isRegular(print, session)),
    );
    for (const session of sessions) {
      if (only !== null && session !== only) continue;
      const parts = ofSession.get(session)!;
      for (const symbol of [...new Set(parts.flat().map((print) => print.symbol))].sort()) {
        const sources = parts.map((file) => file.filter((print) => print.symbol === symbol));
        // A file speaks for the sessions of which it has prints of regular hours.
        const speaking = parts.filter((_, i) => sources[i]!.length > 0).flat();
        const regular = speaking.some((print) => isRegular(print, session));
        const reaches = speaking.some((print) => isRegular(print, session) && print.ms >= closeOf(session) - 300_000);
        const isLive = nowMs < closeOf(session) + 900_000;
        const part = { symbol, session, sources, replace, reaches, isLive, quotes: given };
        if (replace || regular || !hasOwn) this.#write(part, regular, report);
        else this.#putAside(part, report);
      }
    }
    return report;
  }

  #write(part: TapePart, isRegular: boolean, report: TapeReport): void {
    const { symbol, session, sources, replace, reaches, isLive, quotes } = part;
    const key = keyOf(symbol, session);
    const prints = joined(replace ? sources : [...sources, ...(this.waiting.get(key) ?? [])]);
    const [stored, count] = [this.tapes.get(key), tradesOf(prints)];
    if (!replace && stored && lacking(prints, stored) > 0) {
      report.fewer.push({ symbol, session, count });
      return;
    }
    const { known, own } = stored ? { known: 0, own: 0 } : this.#sizes(symbol, session, prints);
    if (!replace && !reaches && own < known) {
      report.fewer.push({ symbol, session, count });
      return;
    }
    const before = stored ? tradesOf(stored) : known > 0 ? null : 0;
    report.written.push({ symbol, session, count, before });
    this.tapes.set(
      key,
      prints.map((print) => this.#withSide(print, session, quotes)),
    );
    const isLiveTape = isLive && prints[0]!.contract !== undefined;
    if (isLiveTape) this.#liveTapes.add(key);
    else this.#liveTapes.delete(key);
    this.#writeBars(symbol, session, isLiveTape);
    // Prints outside of regular hours also wait for the tape of the day.
    if (!isRegular && !replace) this.#wait(key, prints);
  }

  /** A print with its side, of options: by quotes that came with the tape, else by stored ones. */
  #withSide(print: Print, session: string, given: ReadonlyMap<string, Quote[]> | null): Print {
    if (!print.contract) return print;
    const own = (given ?? this.#quotes).get(keyOf(tickerOf(print), session)) ?? [];
    return { ...print, side: sideOf(print, own) };
  }

  #putAside({ symbol, session, sources }: TapePart, report: TapeReport): void {
    const key = keyOf(symbol, session);
    const [prints, stored] = [joined(sources), this.tapes.get(key)];
    const count = tradesOf(prints);
    const { known, own } = this.#sizes(symbol, session, prints);
    if (stored ? lacking(prints, stored) > 0 : own < known) report.fewer.push({ symbol, session, count });
    else {
      report.waiting.push({ symbol, session, count });
      this.#wait(key, prints);
    }
  }

  #wait(key: string, prints: Print[]): void {
    this.waiting.set(key, [...(this.waiting.get(key) ?? []), prints]);
  }
}

interface TapePart {
  symbol: string;
  session: string;
  sources: Print[][];
  replace: boolean;
  /** True if the files' tape of the session reaches its close. */
  reaches: boolean;
  /** True if the session is in progress. */
  isLive: boolean;
  /** Quotes that came with the tape, by contract and session. */
  quotes: ReadonlyMap<string, Quote[]> | null;
}
