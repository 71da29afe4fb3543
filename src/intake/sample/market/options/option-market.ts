import { contractId } from '../../../../core/domain/chain/option-contract.ts';
import type { SessionDate } from '../../../../core/domain/market-time.ts';
import { hourMs, minuteMs } from '../../../../platform/runtime/clock.ts';
import { listedExpiries } from '../listing.ts';
import type { SamplePrices } from '../prices.ts';
import type { Random } from '../random.ts';
import type { TapeSlots } from '../tape-slots.ts';
import type { SampleSymbol } from '../universe.ts';
import { quoteAround, quoteTick, sessionVolatility, smile, strikeValue } from './option-value.ts';

/** One execution on the simulated option tape. */
export interface SampleOptionPrint {
  contract: SampleContract;
  /** Epoch ms, and the nanoseconds within it. */
  tsMs: number;
  tsNanos: number;
  exchange: number;
  cents: number;
  /** Contracts. */
  size: number;
  condition: number;
  /** The end of its time slot, epoch ms: it appears on the tape then. */
  overMs: number;
  /** The same of the cancel that removes it; Infinity = none. */
  cancelledMs: number;
}

/** A best bid and offer on the simulated tape, cents. */
export interface SampleOptionQuote {
  tsMs: number;
  tsNanos: number;
  bid: number;
  ask: number;
  overMs: number;
}

/** A listed contract and its prints and quotes. */
export interface SampleContract {
  id: string;
  market: OptionMarket;
  /** Its id as a holder of time slots. */
  holder: number;
  isCall: boolean;
  strike: number;
  expiryMs: number;
  /** Volume of the chain at the session's end, and the part of it that no print has used. */
  volume: number;
  left: number;
  prints: SampleOptionPrint[];
  quotes: SampleOptionQuote[];
  /** Exchange, price and size of planted prints: a cancel could not distinguish two prints with the same three. */
  planted: Set<string>;
}

/** The options of a ticker in a session. */
export interface OptionMarket {
  entry: SampleSymbol;
  /** Its id as a holder of time slots: multi-leg trades use one of the ticker's. */
  holder: number;
  exchanges: readonly number[];
  contracts: readonly SampleContract[];
  /** By expiry, strikes ascending; rights apart. */
  expiries: readonly { calls: SampleContract[]; puts: SampleContract[] }[];
  /** A contract's quote at an instant, cents, equal to its chain's. */
  quoteAt(contract: SampleContract, atMs: number): { bid: number; ask: number };
  /** A random contract, weighted by volume; null if none is traded. */
  pick(random: Random): SampleContract | null;
}

const yearMs = 365 * 24 * hourMs;
const everywhere = [300, 301, 302, 303, 304, 307, 308, 309, 312, 313, 315, 316, 319, 322, 323, 325];
// Proprietary products of an exchange trade only there.
const ownExchanges: Record<string, readonly number[]> = { SPX: [302], NDX: [307, 308, 323] };

/** A ticker's price at any instant of the session, between a minute's open and its close. */
function priceBetweenMinutes(
  prices: SamplePrices,
  entry: SampleSymbol,
  session: SessionDate,
): (atMs: number) => number {
  const { tsMs, open, close } = prices.minutes(entry, session);
  return (atMs) => {
    const minute = Math.min(tsMs.length - 1, Math.max(0, Math.floor((atMs - tsMs[0]!) / minuteMs)));
    const way = Math.min(1, (atMs - tsMs[minute]!) / minuteMs);
    return open[minute]! + (close[minute]! - open[minute]!) * way;
  };
}

function picker(contracts: readonly SampleContract[]): OptionMarket['pick'] {
  const cumulative = new Float64Array(contracts.length);
  let total = 0;
  for (const [i, { volume }] of contracts.entries()) {
    total += volume ** 0.7;
    cumulative[i] = total;
  }
  return (random) => {
    if (total === 0) return null;
    const wanted = random.next() * total;
    let [low, high] = [0, contracts.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulative[middle]! > wanted) high = middle;
      else low = middle + 1;
    }
    return contracts[low]!;
  };
}

/** The options market of a ticker: its chain's contracts, empty of prints. */
export function optionMarket(
  prices: SamplePrices,
  entry: SampleSymbol,
  session: SessionDate,
  slots: TapeSlots,
): OptionMarket {
  const contracts: SampleContract[] = [];
  const spotAt = priceBetweenMinutes(prices, entry, session);
  const [atm, tick] = [sessionVolatility(entry, session), quoteTick(entry)];
  const expiries: { calls: SampleContract[]; puts: SampleContract[] }[] = [];
  const market: OptionMarket = {
    entry,
    holder: slots.holder(),
    exchanges: ownExchanges[entry.symbol] ?? everywhere,
    contracts,
    expiries,
    quoteAt({ isCall, strike, expiryMs }, atMs) {
      const spot = spotAt(atMs);
      const years = Math.max(minuteMs, expiryMs - atMs) / yearMs;
      const iv = Math.round(smile(atm, spot, strike, years) * 1e4) / 1e4;
      const { call, put } = strikeValue(spot, strike, years, iv);
      const { bid, ask } = quoteAround(isCall ? call : put, tick);
      return { bid: Math.round(bid * 100), ask: Math.round(ask * 100) };
    },
    pick: () => null,
  };
  for (const { root, expiry, expiryMs, strikes, volume } of listedExpiries(prices, entry, session)) {
    const ofRight = (right: 'call' | 'put') =>
      strikes.map((strike, i): SampleContract => {
        const id = contractId({ root, expiry, right, strike: strike * 1000 });
        const isCall = right === 'call';
        const traded = volume[2 * i + (isCall ? 0 : 1)]!;
        const state = { left: traded, prints: [], quotes: [], planted: new Set<string>() };
        return { id, market, holder: slots.holder(), isCall, strike, expiryMs, volume: traded, ...state };
      });
    const [calls, puts] = [ofRight('call'), ofRight('put')];
    contracts.push(...calls, ...puts);
    expiries.push({ calls, puts });
  }
  market.pick = picker(contracts);
  return market;
}
