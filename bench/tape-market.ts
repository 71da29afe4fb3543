import { contractId } from '../src/core/domain/chain/option-contract.ts';
import { addDays } from '../src/core/domain/market-time.ts';
import type { Random } from '../src/intake/sample/market/random.ts';

/** The session that is simulated. */
export const tapeSession = '2026-11-19';

/** A contract that is traded, in the order of a vendor's file. */
export interface BenchContract {
  id: string;
  isCall: boolean;
  /** Dollars. */
  strike: number;
  /** Years to its expiry. */
  years: number;
}

/** One underlying's part of the tape. */
export interface BenchUnderlying {
  price: number;
  volatility: number;
  /** Share of the tape's prints. */
  share: number;
  contracts: BenchContract[];
  /** For each contract the chance that a print is of it or of one before it. */
  upTo: Float64Array;
}

// By how much they trade. Index options under their weekly root.
const tickers = `SPY 590|SPXW 5900|QQQ 500|TSLA 340|NVDA 140|AAPL 230|IWM 230|AMZN 205|META 580|AMD 150|MSFT 430|GOOGL 175|PLTR 65|COIN 290
|NDXP 20500|MSTR 400|NFLX 890|AVGO 165|SMCI 25|BABA 88|INTC 24|F 11|BAC 46|GLD 245|TLT 92|TQQQ 76|MARA 20|HOOD 34|SOFI 14|UBER 70|DIS 112|BA 140
|JPM 240|C 70|GS 590|V 310|LLY 780|UNH 590|PFE 26|MRK 100|JNJ 155|XOM 120|CVX 160|WMT 86|TGT 155|COST 930|HD 400|MCD 290|SBUX 98|NKE 76|CSCO 58
|ORCL 180|CRM 325|ADBE 500|SHOP 105|SNOW 130|RIVN 10|LCID 2|GME 28|DIA 435`;
const daysToExpiry = [0, 1, 4, 5, 6, 8, 15, 22, 29, 57, 92, 183];
const strikesBeside = 30;
const steps = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250];

function contractsOf(root: string, price: number): BenchContract[] {
  const step = steps.find((one) => one >= price * 0.006) ?? steps.at(-1)!;
  const middle = Math.round(price / step);
  const beside = Math.min(strikesBeside, middle - 1);
  const contracts: BenchContract[] = [];
  for (const days of daysToExpiry) {
    for (let i = -beside; i <= beside; i++) {
      for (const right of ['call', 'put'] as const) {
        const strike = (middle + i) * step;
        const id = contractId({ root, expiry: addDays(tapeSession, days), right, strike: strike * 1000 });
        contracts.push({ id, isCall: right === 'call', strike, years: (days + 0.3) / 365 });
      }
    }
  }
  return contracts.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Near expiries near the money trade most. */
function weightOf({ strike, years }: BenchContract, price: number, volatility: number): number {
  const away = Math.log(strike / price) / (volatility * Math.sqrt(years + 5 / 365));
  return Math.exp(-0.9 * away * away) / (1 + 60 * years) + 2e-4;
}

/** Some 60 underlyings with up to 1,464 contracts each, in the order of a vendor's file. */
export function benchMarket(random: Random): BenchUnderlying[] {
  const lines = tickers.split('|').map((line) => line.trim().split(' ') as [string, string]);
  const weights = lines.map((_, rank) => (rank + 1) ** -0.9);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const underlyings = lines.map(([root, text], rank) => {
    const price = Number(text);
    const volatility = price > 300 ? 0.18 : 0.25 + 0.35 * random.next();
    const contracts = contractsOf(root, price);
    let sum = 0;
    const upTo = Float64Array.from(contracts, (contract) => {
      sum += weightOf(contract, price, volatility);
      return sum;
    });
    return { price, volatility, share: weights[rank]! / total, contracts, upTo: upTo.map((one) => one / sum) };
  });
  return underlyings.sort((a, b) => (a.contracts[0]!.id < b.contracts[0]!.id ? -1 : 1));
}

/** Which contract trades next, by how often each does. */
export function pick({ upTo }: Pick<BenchUnderlying, 'upTo'>, random: Pick<Random, 'next'>): number {
  const drawn = random.next();
  let [low, high] = [0, upTo.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (upTo[middle]! < drawn) low = middle + 1;
    else high = middle;
  }
  return low;
}
