// The market: symbols, and every print of every session, made by a seed alone.
import { type Random, randomOf } from '../support/random.ts';
import { closeOf, newYork, openOf, sessionOf, tradingDay } from './calendar.ts';

/** One execution, or a record that corrects one, as a tape states it. */
export interface Print {
  symbol: string;
  exchange: number;
  /** Facility of an execution off exchange; 0 = none. */
  trf: number;
  id: string;
  /** Units of 1e-4 dollars. */
  price: number;
  size: number;
  conditions: readonly number[];
  correction: number;
  ms: number;
  /** Nanoseconds below the millisecond. */
  nanos: number;
  sequence: number;
  /** 1, 2, 3; 0 = unknown. */
  tape: number;
  /** The contract of an option's print, whose `symbol` is the underlying. */
  contract?: Contract;
  /** The side of an option's print, if its book knows quotes. */
  side?: string;
}

/** A bid and an offer of a contract, units of 1e-4 dollars; 0 = none. */
export interface Quote extends Pick<Print, 'symbol' | 'ms' | 'nanos' | 'sequence'> {
  contract: Contract;
  bid: number;
  ask: number;
}

/** An option contract. */
export interface Contract {
  root: string;
  expiry: string;
  right: 'call' | 'put';
  /** Thousandths of a dollar. */
  strike: number;
}

/** The path form of a contract. */
export function contractPath({ root, expiry, right, strike }: Contract): string {
  const date = expiry.slice(2).replaceAll('-', '');
  return `O:${root}${date}${right === 'call' ? 'C' : 'P'}${String(strike).padStart(8, '0')}`;
}

/** A stock, or a contract of an underlying. */
export type Instrument = Pick<Print, 'symbol' | 'contract'>;

/** The ticker of an instrument in files. */
export const tickerOf = ({ symbol, contract }: Instrument): string => (contract ? contractPath(contract) : symbol);

export interface ModelSymbol {
  symbol: string;
  tape: number;
  minTier: 'free' | 'basic' | 'pro';
  registered: boolean;
  /** True if it also trades overnight. */
  evenings: boolean;
}

export interface World {
  seed: number;
  /** True if commands run in processes that are killed, now and then. */
  kills: boolean;
  /** Its trading days, ascending. */
  sessions: readonly string[];
  symbols: readonly ModelSymbol[];
  /** A ticker that comes by a live tape alone. */
  followed: ModelSymbol;
  /** An index: it has bars alone. */
  index: ModelSymbol;
  /**
   * Its feed of stocks: with ids and corrections; without corrections, and ids that a vendor now and then lacks; or
   * sequences for ids.
   */
  feed: 'ids' | 'no ids' | 'sequences';
  /** Its feed of options: `tapeFormats` has what each states. */
  optionFeed: 'all' | 'sequences' | 'milliseconds';
  /** A split in it. */
  split: { symbol: string; exDate: string; ratio: number };
  /** The prints of a symbol's session in order of time. */
  tape(symbol: string, session: string): readonly Print[];
  /** The prints of options on an underlying, in order of time. */
  options(underlying: string, session: string): readonly Print[];
  /** The quotes of a session's prints of options. */
  quotes(underlying: string, session: string): readonly Quote[];
}

/** The ticker of the index; contracts are of none. */
export const isIndex = ({ symbol, contract }: Instrument): boolean => symbol === 'SPX' && !contract;

/** Underlyings with options; one is an index with two roots. */
export const optionRoots: Record<string, readonly string[]> = { SPY: ['SPY'], AAPL: ['AAPL'], SPX: ['SPX', 'SPXW'] };

/** First sessions of worlds: beside half days, changes of the clock, weekends, the end of a year. */
const beginnings = ['2024-11-26', '2024-12-23', '2024-12-30', '2025-07-01', '2024-03-07', '2024-10-31', '2025-01-07'];

const known: readonly Omit<ModelSymbol, 'evenings'>[] = [
  { symbol: 'SPY', tape: 2, minTier: 'free', registered: true },
  { symbol: 'AAPL', tape: 3, minTier: 'free', registered: true },
  { symbol: 'MSFT', tape: 3, minTier: 'basic', registered: true },
  { symbol: 'NVDA', tape: 3, minTier: 'pro', registered: true },
  { symbol: 'XOM', tape: 1, minTier: 'free', registered: true },
  { symbol: 'BRK.B', tape: 1, minTier: 'free', registered: true },
  { symbol: 'ZZZ', tape: 1, minTier: 'free', registered: false },
];

/** The exchange that lists a tape's stocks, as the vendor numbers them. */
export const listingExchange: Record<number, number> = { 0: -1, 1: 10, 2: 11, 3: 12 };
const venues = [10, 11, 12, 8, 19, 21];
const restricting = [2, 5, 7, 10, 13, 20, 21, 22, 29, 32, 33, 38, 52, 53];
const ordinary = [1, 3, 9, 14, 23, 30, 34, 35, 41, 17, 8];

/** A number from text, to seed a generator with. */
export function hashOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}

function conditionsOf(random: Random, offExchange: boolean): number[] {
  if (random.once(4)) return [37];
  if (random.once(6)) return [random.pick(restricting)];
  if (random.once(12)) return [random.pick(ordinary), random.pick(restricting)];
  if (offExchange && random.once(5)) return [random.pick([2, 10, 52])];
  return random.once(4) ? [random.pick(ordinary)] : random.once(3) ? [14] : [];
}

/** Instants of a session's prints with their kind. */
function instantsOf(random: Random, session: string, evenings: boolean): { ms: number; kind: 'form_t' | 'regular' }[] {
  const [open, close] = [openOf(session), closeOf(session)];
  const evening = newYork(session, -240);
  const found: { ms: number; kind: 'form_t' | 'regular' }[] = [];
  const add = (kind: 'form_t' | 'regular', from: number, to: number) =>
    found.push({ kind, ms: from + random.below(to - from) });
  if (evenings) for (let n = 1 + random.below(4); n > 0; n--) add('form_t', evening, newYork(session, 240));
  for (let n = random.below(4); n > 0; n--) add('form_t', newYork(session, 240), open);
  add('regular', open, open + 1000);
  for (let n = 8 + random.below(20); n > 0; n--) {
    const from = open + random.below(close - open - 60_000);
    for (let m = random.below(4); m >= 0; m--) add('regular', from, from + random.pick([1000, 20_000, 60_000]));
  }
  add('regular', close - 120_000, close);
  for (let n = random.below(4); n > 0; n--) add('form_t', close + 60_000, newYork(session, 1200));
  return found.sort((a, b) => a.ms - b.ms);
}

function makeTape(seed: number, { symbol, tape, evenings }: ModelSymbol, session: string): Print[] {
  const random = randomOf(hashOf(`${seed} ${symbol} ${session}`));
  const first = 100_0000 + (hashOf(symbol) % 400_0000);
  let price = first;
  const prints: Print[] = [];
  const print = (ms: number, conditions: number[], exchange: number, more: Partial<Print> = {}) => {
    const n = prints.length + 1;
    prints.push({
      symbol,
      exchange,
      trf: exchange === 4 ? random.pick([201, 202, 203]) : 0,
      id: String(n * 7),
      price,
      size: conditions.includes(37) ? 1 + random.below(99) : 100 * (1 + random.below(20)),
      conditions,
      correction: 0,
      ms,
      nanos: random.below(1_000_000),
      sequence: n * 10,
      tape,
      ...more,
    });
  };
  for (const { ms, kind } of instantsOf(random, session, evenings)) {
    price += (random.below(2001) - 1000) * random.pick([1, 5, 100]);
    const exchange = random.once(3) ? 4 : random.pick(venues);
    // Much of what trades off exchange trades at few prices, of every session.
    if (exchange === 4 && random.once(2)) price = first + 10_000 * random.below(3);
    const conditions = kind === 'form_t' ? (random.once(2) ? [12] : [12, 37]) : conditionsOf(random, exchange === 4);
    print(ms, conditions, exchange);
  }
  const close = closeOf(session);
  if (!random.once(4)) print(close + 200 + random.below(2000), [random.pick([8, 19])], listingExchange[tape]!);
  if (!random.once(3)) print(close + 3000 + random.below(5000), [15], random.pick([listingExchange[tape]!, 8]));
  if (!random.once(3)) print(openOf(session) + 1500, [16], listingExchange[tape]!);
  return [...prints, ...correctionsOf(random, prints)].sort(
    (a, b) => a.ms - b.ms || a.nanos - b.nanos || a.sequence - b.sequence,
  );
}

/** Records that withdraw or correct some prints. */
function correctionsOf(random: Random, prints: Print[]): Print[] {
  const records: Print[] = [];
  for (let n = random.below(4); n > 0; n--) {
    const [at, sequence] = [random.below(prints.length), 100_000 + n * 10];
    const original = prints[at]!;
    if (original.correction !== 0 || records.some(({ id }) => id === original.id)) continue;
    if (random.once(2)) records.push({ ...original, correction: random.pick([7, 8, 10, 11]), sequence });
    else records.push({ ...original, correction: 1, price: original.price + 500, size: original.size + 100, sequence });
  }
  return records;
}

const optionConditions = [209, 209, 209, 219, 227, 232, 202, 204, 208, 229, 246, 247, 248, 201];

function makeOptions(seed: number, sessions: readonly string[], symbol: string, session: string): Print[] {
  const random = randomOf(hashOf(`options ${seed} ${symbol} ${session}`));
  const last = sessions.at(-1)!;
  const contracts = optionRoots[symbol]!.flatMap((root) =>
    [tradingDay(last, 1), tradingDay(last, 20)].flatMap((expiry) =>
      [580_000, 590_000, 592_500].flatMap((strike) =>
        (['call', 'put'] as const).map((right): Contract => ({ root, expiry, right, strike })),
      ),
    ),
  );
  const prints: Print[] = [];
  const instants = instantsOf(random, session, symbol === 'SPX').flatMap(({ ms, kind }) => {
    // Now and then an order is filled in parts.
    const parts = kind === 'regular' && random.once(4) ? 1 + random.below(8) : 0;
    const gaps = Array.from({ length: parts }, () => random.pick([7, 61, 93, 93, 93, 170]));
    return [0, ...gaps].map((_, i) => ({ ms: gaps.slice(0, i).reduce((at, gap) => at + gap, ms), kind }));
  });
  for (const { ms, kind } of instants.sort((a, b) => a.ms - b.ms)) {
    const before = prints.at(-1);
    const isPart = before !== undefined && ms - before.ms < 200 && !random.once(8);
    const earlier = prints.length > 0 && random.once(5) ? random.pick(prints) : null;
    const condition = kind === 'form_t' ? 248 : random.pick(optionConditions);
    const isCancel = condition === 201 && earlier !== null && earlier.conditions[0] !== 201;
    // A cancel repeats a print; others now and then come twice.
    const of = isCancel ? earlier : null;
    prints.push({
      symbol,
      contract: of?.contract ?? (isPart ? before.contract! : random.pick(contracts)),
      exchange: of?.exchange ?? random.pick([302, 307, 316]),
      trf: 0,
      id: '',
      price: of?.price ?? 100 * (1 + random.below(3000)),
      size: of?.size ?? 1 + random.below(400),
      conditions: [condition === 201 && !isCancel ? 209 : condition],
      correction: 0,
      ms,
      nanos: random.below(1_000_000),
      sequence: prints.length + 1,
      tape: 0,
    });
  }
  return prints;
}

/** Quotes of prints: at and beside the bounds of sides, locked, crossed, without a side, and as old as may be. */
function makeQuotes(random: Random, prints: readonly Print[], session: string): Quote[] {
  const quotes = prints.flatMap(({ symbol, contract, price, ms, nanos }, n) => {
    const ages = random.pick([[0, 0, 1, 40, 1000], [0, 4999], [5000], [4999, 5001]]);
    return Array.from({ length: random.below(4) }, (_, i): Quote => {
      const tenth = 1 + random.below(price / 20);
      const bid = price - tenth * random.pick([-2, 0, 3, 4, 4, 5, 6, 6, 10, 12]);
      const [low, high] = random.pick([
        ...[[bid, bid + 10 * tenth] as const, [bid, bid + 10 * tenth] as const, [bid, bid + 10 * tenth] as const],
        ...[[bid, bid] as const, [bid + tenth, bid] as const, [bid, 0] as const, [0, 2 * price] as const],
      ]);
      const at = { ms: ms - random.pick(ages), sequence: 5 * n + i };
      return {
        symbol,
        contract: contract!,
        bid: low,
        ask: high,
        ...at,
        nanos: random.pick([nanos, nanos, 0, 999_999]),
      };
    });
  });
  return quotes.filter(({ ms }) => sessionOf(ms) === session);
}

/** The world of a seed. */
export function makeWorld(seed: number, kills = false): World {
  const random = randomOf(hashOf(`world ${seed}`));
  const first = random.pick(beginnings);
  const sessions = Array.from({ length: 5 }, (_, i) => tradingDay(first, i));
  const symbols = known.map((symbol) => ({ ...symbol, evenings: random.once(2) }));
  const split = { symbol: random.pick(['AAPL', 'XOM']), exDate: sessions[2]!, ratio: random.pick([2, 10, 0.5]) };
  const followed: ModelSymbol = {
    symbol: 'LIVE',
    tape: 3,
    minTier: 'free',
    registered: false,
    evenings: random.once(2),
  };
  const index: ModelSymbol = { symbol: 'SPX', tape: 0, minTier: 'pro', registered: true, evenings: false };
  const bySymbol = new Map([...symbols, followed, index].map((each) => [each.symbol, each]));
  const tapes = new Map<string, Print[]>();
  const options = new Map<string, Print[]>();
  const feed = random.pick(['ids', 'ids', 'no ids', 'sequences'] as const);
  const optionFeed = random.pick(['all', 'sequences', 'milliseconds'] as const);
  return {
    seed,
    kills,
    sessions,
    symbols,
    followed,
    index,
    split,
    feed,
    optionFeed,
    options(underlying, session) {
      const key = `${underlying} ${session}`;
      if (!options.has(key)) options.set(key, makeOptions(seed, sessions, underlying, session));
      return options.get(key)!;
    },
    quotes(underlying, session) {
      const own = randomOf(hashOf(`quotes ${seed} ${underlying} ${session}`));
      return makeQuotes(own, this.options(underlying, session), session);
    },
    tape(symbol, session) {
      const key = `${symbol} ${session}`;
      const f = symbol === split.symbol && session >= split.exDate ? split.ratio : 1;
      const divided = (print: Print) => ({ ...print, price: Math.round(print.price / f) });
      const stated = ({ correction }: Print) => feed === 'ids' || correction === 0;
      if (!tapes.has(key)) tapes.set(key, makeTape(seed, bySymbol.get(symbol)!, session).filter(stated).map(divided));
      return tapes.get(key)!;
    },
  };
}
