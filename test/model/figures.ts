// Every figure by brute force over rows, as the methodology states it.
import { readFileSync } from 'node:fs';
import { sharedData } from '../support/shared-data.ts';
import { newYork } from './calendar.ts';
import { type Contract, listingExchange, type Print, type Quote } from './world.ts';

export interface Bar {
  ts_ms: number;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  vwap: number | null;
  trade_count: number | null;
  /** Shares that weigh its vwap. */
  weight: number;
}

export type Timeframe = '1s' | '1m' | '5m' | '1h' | '1d';
export const lengths = { '1s': 1000, '1m': 60_000, '5m': 300_000, '1h': 3_600_000 } as const;

interface Traits {
  highLow: boolean;
  openClose: boolean;
  volume: boolean;
}

let conditionTable: Map<number, Traits> | null = null;

function conditions(): Map<number, Traits> {
  if (conditionTable) return conditionTable;
  const lines = readFileSync(sharedData('reference/stock_trade_conditions.csv'), 'utf8').trim().split(/\r?\n/).slice(1);
  conditionTable = new Map(
    lines.map((line) => {
      const [id, , highLow, openClose, volume] = line.split(',');
      return [Number(id), { highLow: highLow === '1', openClose: openClose === '1', volume: volume === '1' }];
    }),
  );
  return conditionTable;
}

const free: Traits = { highLow: true, openClose: true, volume: true };

const none: Traits = { highLow: false, openClose: false, volume: false };
/** Effects of the conditions of options that have fewer than all: of late ones, and of those that count in volume. */
const ofOptions = new Map([
  ...[202, 204, 206].map((id) => [id, none] as const),
  ...[246, 248].map((id) => [id, { ...none, volume: true }] as const),
]);

/** The effects of a print: the strictest of its conditions wins. */
function traitsOf(print: Print): Traits {
  const all = print.conditions.map((id) => (print.contract ? ofOptions : conditions()).get(id) ?? free);
  const every = (name: keyof Traits) => all.every((each) => each[name]);
  return { highLow: every('highLow'), openClose: every('openClose'), volume: every('volume') };
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
const sharesOf = (prints: readonly Print[]) =>
  sum(prints.filter((each) => traitsOf(each).volume).map(({ size }) => size));

export const halfEven = (value: number) =>
  Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value);

/** A bar of prints that start at `start`; null if none sets open and close. */
function barOf(prints: readonly Print[], start: number): Bar | null {
  const closing = prints.filter((print) => traitsOf(print).openClose);
  if (closing.length === 0) return null;
  const priced = prints.filter((print) => traitsOf(print).highLow);
  const counted = prints.filter((print) => traitsOf(print).volume);
  // A print that counts in no volume weighs nothing.
  const weighing = priced.filter((print) => traitsOf(print).volume);
  const weight = sum(weighing.map(({ size }) => size));
  return {
    ts_ms: start,
    open: closing[0]!.price / 1e4,
    high: Math.max(...priced.map(({ price }) => price)) / 1e4,
    low: Math.min(...priced.map(({ price }) => price)) / 1e4,
    close: closing.at(-1)!.price / 1e4,
    volume: sum(counted.map(({ size }) => size)),
    vwap: weight === 0 ? null : sum(weighing.map(({ price, size }) => price * size)) / weight / 1e4,
    trade_count: counted.length,
    weight,
  };
}

function byStart(prints: readonly Print[], length: number): Map<number, Print[]> {
  const groups = new Map<number, Print[]>();
  for (const print of prints) {
    const start = print.ms - (print.ms % length);
    groups.set(start, [...(groups.get(start) ?? []), print]);
  }
  return groups;
}

/** The price at which a session closed: the listing exchange's closing price, else its auction's, else the last. */
function officialClose(prints: readonly Print[]): number | null {
  const listing = listingExchange[prints.find(({ tape }) => tape !== 0)?.tape ?? 0];
  for (const condition of [15, 19]) {
    const last = prints.findLast((print) => print.exchange === listing && print.conditions.includes(condition));
    if (last) return last.price / 1e4;
  }
  const last = prints.findLast((print) => traitsOf(print).openClose);
  return last ? last.price / 1e4 : null;
}

/** The bars of a session's standing prints; the longer ones are made of minutes. */
export function barsOf(prints: readonly Print[], session: string, timeframe: '1s' | '1m' | '1d'): Bar[] {
  if (timeframe === '1d') {
    const bar = barOf(prints, newYork(session));
    if (!bar) return [];
    const close = officialClose(prints) ?? bar.close;
    return [{ ...bar, close, high: Math.max(bar.high, close), low: Math.min(bar.low, close) }];
  }
  return [...byStart(prints, lengths[timeframe])].flatMap(([start, group]) => barOf(group, start) ?? []);
}

/** One bar of ascending shorter ones: what one of them does not know is unknown. */
export function joinBars(parts: readonly Bar[], start: number): Bar {
  const weighing = parts.filter(({ weight }) => weight > 0);
  const weight = sum(weighing.map((part) => part.weight));
  const isKnown = weighing.every(({ vwap }) => vwap !== null) && weight > 0;
  const counts = parts.map(({ trade_count }) => trade_count);
  return {
    ts_ms: start,
    open: parts[0]!.open,
    high: Math.max(...parts.map(({ high }) => high)),
    low: Math.min(...parts.map(({ low }) => low)),
    close: parts.at(-1)!.close,
    volume: sum(parts.map(({ volume }) => volume)),
    vwap: isKnown ? sum(weighing.map((part) => part.vwap! * part.weight)) / weight : null,
    trade_count: counts.includes(null) ? null : sum(counts.map((count) => count!)),
    weight,
  };
}

/** 5m and 1h bars of minutes. */
export function longerBars(minutes: readonly Bar[], timeframe: '5m' | '1h'): Bar[] {
  const starts = new Map<number, Bar[]>();
  for (const bar of minutes) {
    const start = bar.ts_ms - (bar.ts_ms % lengths[timeframe]);
    starts.set(start, [...(starts.get(start) ?? []), bar]);
  }
  return [...starts].map(([start, parts]) => joinBars(parts, start));
}

/** A quote's figures of the day bars of a symbol, ascending, at an instant. */
export function quoteOf(days: readonly { session: string; bar: Bar }[], today: string, earliest: string) {
  const known = days.filter(({ session }) => session <= today);
  const last = known.at(-1);
  if (!last || last.session < earliest) return null;
  const before = known.at(-2);
  return { spot: last.bar.close, volume: last.bar.volume, session_date: last.session, before };
}

/** An amount per cent, 4 decimals, half away from zero. */
export function changePct(spot: number, close: number): number {
  const pct = 100 * (spot / close - 1);
  return (Math.sign(pct) * Math.round(Math.abs(pct) * 1e4)) / 1e4;
}

const categories: readonly (readonly [string, readonly number[]])[] = [
  ['average_price', [2]],
  ['derivatively_priced', [10]],
  ['package_price', [52, 53, 35]],
  ['late_oos', [13, 22, 30, 31, 32, 33]],
  ['form_t', [12]],
  ['odd_lot', [37]],
];

/** The category of an execution off exchange: the first that matches, so that they partition (methodology 6). */
function categoryOf({ conditions: ids }: Print): string {
  const found = categories.find(([, members]) => ids.some((id) => members.includes(id)));
  if (found) return found[0];
  const isOrdinary = (id: number) =>
    id === 0 || id === 14 || Object.values(conditions().get(id) ?? none).every((effect) => effect);
  return ids.every(isOrdinary) ? 'regular_way' : 'other';
}

/** The executions of a session off exchange: without official prices, and what counts in no volume. */
const offExchange = (prints: readonly Print[]) =>
  prints.filter((print) => print.exchange === 4 && traitsOf(print).volume);

const notionalOf = (prints: readonly Print[]) => sum(prints.map(({ price, size }) => price * size)) / 1e4;

/** The activity row of a session; none under three executions. */
export function activityOf(prints: readonly Print[]) {
  const executions = offExchange(prints);
  if (executions.length < 3) return [];
  const volume = sum(executions.map(({ size }) => size));
  const consolidated = sharesOf(prints);
  const row = {
    off_exch_volume: volume,
    notional: notionalOf(executions),
    trade_count: executions.length,
    avg_size: volume / executions.length,
    off_exch_pct: consolidated === 0 ? null : volume / consolidated,
    consolidated_volume: consolidated,
  };
  return [row];
}

/**
 * The price-forming executions of a session off exchange, by price in thousandths of a dollar; those of categories that
 * are not published under their own name only if they and the others of these are none, or three and more.
 */
export function levelsOf(prints: readonly Print[]) {
  const named = new Set(compositionOf(prints).map(({ category }) => category));
  const isForming = (print: Print) => ['regular_way', 'odd_lot', 'form_t'].includes(categoryOf(print));
  const others = offExchange(prints).filter((print) => categoryOf(print) === 'other' || !named.has(categoryOf(print)));
  const isSmall = (count: number) => count === 1 || count === 2;
  const formingOthers = others.filter(isForming).length;
  const omitted = new Set(isSmall(formingOthers) || isSmall(others.length - formingOthers) ? others : []);
  const forming = offExchange(prints).filter((print) => isForming(print) && !omitted.has(print));
  const levels = [...Map.groupBy(forming, ({ price }) => Math.floor(price / 10))].map(([level, group]) => {
    const volume = sum(group.map(({ size }) => size));
    return [level, { volume, notional: notionalOf(group), trade_count: group.length }] as const;
  });
  return new Map(levels);
}

interface Level {
  date: string;
  price_thousandths: number;
  volume: number;
  notional: number;
  trade_count: number;
}

/**
 * The concentration of every session, from the published levels of the sessions up to it and its published vwap, and
 * nothing else (methodology 6). `factorOf`: of the splits after one date up to another.
 */
export function concentrationOf(
  levels: readonly Level[],
  activity: readonly { date: string; vwap: number }[],
  factorOf: (after: string, through: string) => number,
) {
  return activity.flatMap(({ date, vwap }) => {
    const limit = 0.0005 * vwap;
    const widths = [-2, -1, 0, 1].flatMap((n) => [1, 2.5, 5].map((factor) => factor * 10 ** n));
    const width = Math.round(1e6 * Math.max(0.01, ...widths.filter((each) => each <= limit)));
    const of = levels
      .filter((level) => level.date <= date)
      .map((level) => {
        const f = factorOf(level.date, date);
        return { ...level, price: Math.floor(level.price_thousandths / f), volume: halfEven(level.volume * f) };
      });
    const buckets = [...Map.groupBy(of, ({ price }) => Math.floor((price * 1000) / width))].map(([index, group]) => ({
      index,
      sessions: new Set(group.map((level) => level.date)).size,
      volume: sum(group.map(({ volume }) => volume)),
      notional: sum(group.map(({ notional }) => notional)),
      trade_count: sum(group.map((level) => level.trade_count)),
    }));
    const shown = buckets.filter(({ sessions }) => sessions >= 2);
    const total = sum(shown.map(({ notional }) => notional));
    return shown
      .map(({ index, sessions, ...bucket }) => {
        const midpoint = ((index + 0.5) * width) / 1e6;
        return {
          date,
          ...bucket,
          bucket_midpoint: midpoint,
          bucket_width: width / 1e6,
          distinct_sessions: sessions,
          rank_score: (100 * (bucket.notional / total) * sessions) / 20,
          bucket_count: shown.length,
          distance_bps: (1e4 * (midpoint - vwap)) / vwap,
        };
      })
      .sort((a, b) => b.rank_score - a.rank_score || b.notional - a.notional || a.bucket_midpoint - b.bucket_midpoint)
      .map((row, i) => ({ ...row, rank: i + 1 }));
  });
}

/** The composition rows of a session by the disclosure rule, k = 3. */
export function compositionOf(prints: readonly Print[]): { category: string; volume: number; trade_count: number }[] {
  const executions = offExchange(prints);
  if (executions.length < 3) return [];
  const rows = new Map<string, Print[]>();
  for (const print of executions) rows.set(categoryOf(print), [...(rows.get(categoryOf(print)) ?? []), print]);
  const merge = (name: string) => {
    rows.set('other', [...(rows.get('other') ?? []), ...rows.get(name)!]);
    rows.delete(name);
  };
  for (const [name, group] of [...rows]) if (name !== 'other' && group.length < 3) merge(name);
  while (rows.has('other') && rows.get('other')!.length < 3 && rows.size > 1) {
    const [smallest] = [...rows]
      .filter(([name]) => name !== 'other')
      .sort(([a, of], [b, than]) => of.length - than.length || notionalOf(of) - notionalOf(than) || (a < b ? -1 : 1));
    merge(smallest![0]);
  }
  return [...rows].map(([category, group]) => ({
    category,
    volume: sum(group.map(({ size }) => size)),
    trade_count: group.length,
  }));
}

const measures = () => ({
  call_volume: 0,
  put_volume: 0,
  call_premium_usd: 0,
  put_premium_usd: 0,
  call_trade_count: 0,
  put_trade_count: 0,
});

/** The cross-section of option prints: by strike and by expiry, ascending; both count every print (methodology 4). */
export function crossSectionOf(prints: readonly Print[]) {
  const by = <K>(keyOf: (print: Print) => K) => {
    const rows = new Map<K, ReturnType<typeof measures>>();
    for (const print of prints) {
      const row = rows.get(keyOf(print)) ?? measures();
      const { right } = print.contract!;
      row[`${right}_volume`] += print.size;
      row[`${right}_premium_usd`] += (print.price * print.size) / 100;
      row[`${right}_trade_count`]++;
      rows.set(keyOf(print), row);
    }
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
  };
  return {
    by_strike: by(({ contract }) => contract!.strike).map(([strike, row]) => ({
      strike_thousandths: strike,
      measures: row,
    })),
    by_expiration: by(({ contract }) => contract!.expiry).map(([expiry, row]) => ({ expiry, measures: row })),
  };
}

/** Option prints by premium, the largest first, then time: the hundred of the end of a day. */
export const rankedPrints = (prints: readonly Print[]): Print[] =>
  [...prints].sort((a, b) => b.price * b.size - a.price * a.size || a.ms - b.ms).slice(0, 100);

const isFlagged = ({ conditions: ids }: Print) => ids.some((id) => id >= 232 && id <= 246);
const isOrdinary = ({ conditions: ids }: Print) => ids.every((id) => [209, 219, 228, 230].includes(id));
const placeOf = ({ root, expiry, right, strike }: Contract) => `${root} ${expiry} ${right} ${strike}`;

type Instant = Pick<Print, 'ms' | 'nanos'>;

/** Milliseconds from one instant to another. */
const passed = (from: Instant, to: Instant) => to.ms - from.ms + (to.nanos - from.nanos) / 1e6;

/** Late, cross and reopening prints, whose side no quote tells. */
const sideless = [202, 204, 206, 208, 210, 229, 230, 234, 241];

/** The side of a print by the quotes of its contract, in order of time (methodology 3). */
export function sideOf(print: Print, quotes: readonly Quote[]): string {
  const quote = quotes.findLast((each) => passed(each, print) >= 0);
  if (!quote || passed(quote, print) > 5000 || print.conditions.some((id) => sideless.includes(id))) return 'unknown';
  const { bid, ask } = quote;
  if (ask === 0 || bid > ask) return 'unknown';
  const above = 10 * (print.price - bid);
  if (bid === ask) return above > 0 ? 'buy_inferred' : above < 0 ? 'sell_inferred' : 'neutral';
  return above >= 6 * (ask - bid) ? 'buy_inferred' : above <= 4 * (ask - bid) ? 'sell_inferred' : 'neutral';
}

/** Groups of prints in order of time, each from a first one on as long as the next fits. */
function runsOf(prints: readonly Print[], fits: (print: Print, run: readonly Print[]) => boolean): Print[][] {
  const runs: Print[][] = [];
  for (const print of prints) {
    const run = runs.at(-1);
    if (run && fits(print, run)) run.push(print);
    else runs.push([print]);
  }
  return runs;
}

/** The large trades of a session's standing prints, in order of time (methodology 3). */
export function largeTradesOf(prints: readonly Print[]) {
  const flagged = [...Map.groupBy(prints.filter(isFlagged), ({ exchange }) => exchange).values()]
    .flatMap((own) => runsOf(own, (print, run) => passed(run[0]!, print) <= 50))
    .flatMap((run) =>
      new Set(run.map(({ contract }) => placeOf(contract!))).size > 1 ? [run] : run.map((print) => [print]),
    );
  const others = prints.filter((print) => !isFlagged(print));
  const ofOneSide = ({ contract, side }: Print) => `${placeOf(contract!)} ${side}`;
  const runs = [...Map.groupBy(others.filter(isOrdinary), ofOneSide).values()].flatMap((own) =>
    runsOf(own, (print, run) => passed(run.at(-1)!, print) <= 100 && passed(run[0]!, print) <= 500),
  );
  const sweeps = runs.filter((run) => new Set(run.map(({ exchange }) => exchange)).size > 1);
  const single = others.filter((print) => !sweeps.some((sweep) => sweep.includes(print))).map((print) => [print]);
  const all = [
    ...flagged.map((legs) => ({ event_kind: 'multi_leg', legs })),
    ...sweeps.map((legs) => ({ event_kind: 'sweep', legs })),
    ...single.map((legs) => ({ event_kind: 'single_block', legs })),
  ];
  return all
    .sort((a, b) => passed(b.legs[0]!, a.legs[0]!))
    .map(({ event_kind, legs }) => ({
      event_kind,
      event_ts_ms: legs[0]!.ms,
      total_size: sum(legs.map(({ size }) => size)),
      side: legs.every(({ side }) => side === legs[0]!.side) ? legs[0]!.side : 'unknown',
      premium_usd: sum(legs.map(({ price, size }) => price * size)) / 100,
      price_low: Math.min(...legs.map(({ price }) => price)) / 1e4,
      price_high: Math.max(...legs.map(({ price }) => price)) / 1e4,
    }))
    .filter(({ event_kind, premium_usd: premium }) => premium >= (event_kind === 'sweep' ? 50_000 : 100_000));
}
