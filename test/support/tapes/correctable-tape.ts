// A live tape of two sessions, the first a half day, with late and cancelled prints.
import { stockTradeConditions } from '../../../src/core/domain/market/stock-trade-conditions.ts';
import { exchangeInstant, type SessionDate } from '../../../src/core/domain/market-time.ts';
import { randomOf } from '../random.ts';

/** The day after Thanksgiving, which closes at 13:00, and the Monday after it. */
export const tapeSessions: readonly SessionDate[] = ['2026-11-27', '2026-11-30'];

const contracts = [
  'O:SPY261218C00600000',
  'O:SPY261218P00590000',
  'O:SPY261204C00605000',
  'O:AAPL261218C00250000',
] as const;

/** A line of the tape. */
export interface TapeLine {
  /** Event time, epoch ms. */
  ms: number;
  text: string;
  /** True for a line that corrects another one, and for the one that it withdraws. */
  isWithdrawn: boolean;
}

const stamp = (ms: number) => `${ms}000000`;

/** Spot of an hour: a slow walk that both the prints and the chains show. */
const spotAt = (ms: number) => 600 + 3 * Math.sin(ms / 3_600_000);

/** True if a print's correction comes within its minute, which is solved once, from the prints as they stand then. */
const settles = (ms: number) => ms % 60_000 < 30_000;

/** Time between the legs of a sweep, ms. */
const betweenLegsMs = 40;

/** True if an instant of whole seconds is not between the legs: an event appears from its last leg on. */
const isOfOneSecond = (ms: number) => ms % 1000 > 0 && ms % 1000 < 1000 - betweenLegsMs;

class TapeWriter {
  readonly lines: TapeLine[] = [];
  #id = 0;
  /** Underlyings with a print of an option in the session that is written. */
  readonly #observed = new Set<string>();
  readonly #random;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  beginSession(): void {
    this.#observed.clear();
  }

  #add(ms: number, isWithdrawn: boolean, record: object): void {
    this.lines.push({ ms, isWithdrawn, text: `${JSON.stringify(record)}\n` });
  }

  /** A print of a stock, some withdrawn later. */
  stock(ms: number): void {
    const random = this.#random;
    const id = ++this.#id;
    const record = {
      type: 'stock_print',
      symbol: random.pick(['SPY', 'AAPL']),
      exchange: random.pick([4, 11, 12]),
      // Conditions from the whole reference: prints that form no price, and the listing exchange's close.
      ...(random.once(3) && { conditions: [random.pick(stockTradeConditions).id] }),
      tape: 2,
      id: String(id),
      price: Math.round(spotAt(ms) * 100 + random.below(40)) / 100,
      size: 100 * (1 + random.below(20)),
      sip_timestamp: stamp(ms),
      sequence_number: id,
    };
    const isWithdrawn = random.once(6) && settles(ms);
    this.#add(ms, isWithdrawn, record);
    if (!isWithdrawn) return;
    const later = ms + 1 + random.below(20_000);
    this.#add(later, true, { ...record, correction: 8, sip_timestamp: stamp(later) });
  }

  /** A print of a contract, some of them sweeps, some cancelled later. */
  option(ms: number): void {
    const random = this.#random;
    const contract = random.pick(contracts);
    const size = 100 * (1 + random.below(12));
    const print = (at: number, exchange: number, change: object = {}) => ({
      type: 'option_print',
      contract,
      exchange,
      price: 1 + random.below(5),
      size,
      conditions: [209],
      sip_timestamp: stamp(at),
      sequence_number: ++this.#id,
      ...change,
    });
    const record = print(ms, 302);
    const underlying = contract.slice(2, -15);
    // The first print says from when on the tape was observed, also if it is withdrawn.
    const isWithdrawn = this.#observed.has(underlying) && random.once(6) && settles(ms);
    this.#observed.add(underlying);
    this.#add(ms, isWithdrawn, record);
    if (isWithdrawn) {
      const later = ms + 1 + random.below(20_000);
      this.#add(later, true, print(later, 302, { price: record.price, conditions: [201] }));
    } else if (random.once(4) && isOfOneSecond(ms)) {
      const second = ms + betweenLegsMs;
      this.#add(second, false, print(second, 316, { price: record.price }));
    }
  }

  quote(ms: number): void {
    const bid = 1 + this.#random.below(4);
    this.#add(ms, false, {
      type: 'option_quote',
      contract: this.#random.pick(contracts),
      bid_price: bid,
      ask_price: bid + 1,
      sip_timestamp: stamp(ms),
      sequence_number: ++this.#id,
    });
  }

  index(ms: number): void {
    this.#add(ms, false, {
      type: 'index_value',
      symbol: 'SPX',
      value: Math.round(spotAt(ms) * 1000) / 100,
      sip_timestamp: stamp(ms),
    });
  }

  chain(ms: number): void {
    const spot = Math.round(spotAt(ms) * 100) / 100;
    const rows = ['2026-12-04', '2026-12-18'].flatMap((expiry) =>
      [580, 590, 600, 605, 610, 620].flatMap((strike) =>
        (['C', 'P'] as const).map((right) => {
          const years = (Date.parse(expiry) - ms) / (365 * 86_400_000);
          const intrinsic = Math.max(0, right === 'C' ? spot - strike : strike - spot);
          const worth = intrinsic + spot * 0.4 * 0.2 * Math.sqrt(years) * Math.exp(-(((strike - spot) / 25) ** 2));
          return {
            contract: `O:SPY${expiry.slice(2).replaceAll('-', '')}${right}00${strike}000`,
            open_interest: 100 + this.#random.below(5000),
            volume: this.#random.below(900),
            bid: Math.round(worth * 100 - 2) / 100,
            ask: Math.round(worth * 100 + 3) / 100,
          };
        }),
      ),
    );
    this.#add(ms, false, { type: 'chain', underlying: 'SPY', captured_at_ms: ms, spot, prior_close_spot: 599, rows });
  }

  /** The lines in the order of their arrival: up to five seconds late. */
  arrived(): TapeLine[] {
    return this.lines
      .map((line) => ({ line, at: line.ms + (line.text.includes('"chain"') ? 0 : this.#random.below(4900)) }))
      .sort((a, b) => a.at - b.at)
      .map(({ line }) => line);
  }
}

/** Minutes of a session with prints: before the open, in regular hours, after the close, in the evening. */
const spans = (session: SessionDate): readonly (readonly [from: number, through: number])[] =>
  session === '2026-11-27'
    ? [
        [560, 575],
        [770, 790],
        [960, 962],
      ]
    : [
        [565, 590],
        [950, 965],
        [1190, 1199],
      ];

/** A tape of both sessions, by seed. */
export function correctableTape(seed: number): { lines: TapeLine[]; spans: (readonly [number, number])[] } {
  const random = randomOf(seed);
  const writer = new TapeWriter(seed + 1);
  const ranges: (readonly [number, number])[] = [];
  for (const session of tapeSessions) {
    writer.beginSession();
    for (const [from, through] of spans(session)) {
      const range = [exchangeInstant(session, from), exchangeInstant(session, through)] as const;
      ranges.push(range);
      writeHours(writer, random, range);
    }
  }
  return { lines: writer.arrived(), spans: ranges };
}

function writeHours(
  writer: TapeWriter,
  random: ReturnType<typeof randomOf>,
  [from, through]: readonly [number, number],
) {
  for (let ms = from; ms < through; ms += 1 + random.below(9000)) {
    const kind = random.below(10);
    if (kind < 4) writer.stock(ms);
    else if (kind < 7) writer.option(ms);
    else if (kind < 9) writer.quote(ms);
    else writer.index(ms);
  }
  for (let ms = from; ms < through; ms += 300_000) writer.chain(ms);
}

/** A `time` line. */
export const timeLine = (ms: number): string => `${JSON.stringify({ type: 'time', sip_timestamp: stamp(ms) })}\n`;
