import { americanPrice } from '../../../src/core/analytics/pricing/american.ts';
import { blackScholes } from '../../../src/core/analytics/pricing/black-scholes.ts';
import { yearsToExpiry } from '../../../src/core/analytics/pricing/chain-groups.ts';
import { type OptionContract, readOptionContract } from '../../../src/core/domain/chain/option-contract.ts';
import { standardRoots } from '../../../src/core/domain/chain/option-root.ts';
import { exchangeInstant } from '../../../src/core/domain/market-time.ts';
import { fromThousandths } from '../../../src/core/domain/units.ts';
import { randomOf } from '../random.ts';

/** Monday; its tape is quoted from 09:30 to 10:00 and in the last ten minutes. */
export const quotedSession = '2026-11-16';
export const quotedOpen = exchangeInstant(quotedSession, 570);
export const quotedClose = exchangeInstant(quotedSession, 960);

const tickers = (root: string, expiry: string, strikes: readonly number[]) =>
  strikes.flatMap((strike) =>
    ['C', 'P'].map((right) => `O:${root}${expiry}${right}${String(strike * 1000).padStart(8, '0')}`),
  );
/** SPY is of American exercise, SPXW of European; some expire on the day. */
export const quotedContracts = [
  ...tickers('SPY', '261218', [590, 600, 610]),
  ...tickers('SPY', '261116', [600]),
  ...tickers('SPXW', '261218', [5950, 6000, 6050]),
  ...tickers('SPXW', '261116', [6000]),
];
/** A contract with trades and without quotes. */
export const unquoted = 'O:SPY261218C00620000';
/** Crossed whenever it is quoted, and does not trade after the first minute. */
export const crossed = 'O:SPY261218P00580000';

export interface QuotedRecord {
  ms: number;
  kind: 'stock' | 'option' | 'quote';
  ticker: string;
  /** Dollars; of a quote bid and ask. */
  prices: number[];
  size: number;
  exchange: number;
  condition: number;
  sequence: number;
}

/** Value of a contract at 20 % volatility, a rate of 4.5 % and dividends of 1.3 %, dollars. */
export function worth({ root, right, strike, expiry }: OptionContract, spot: number, tsMs: number): number {
  const facts = standardRoots.of(root);
  const years = Math.max(1e-6, yearsToExpiry(expiry, facts, tsMs));
  const option = {
    right,
    spot,
    strike: fromThousandths(strike),
    years,
    rate: 0.045,
    dividendYield: 0.013,
    volatility: 0.2,
  };
  return facts.style === 'american' ? americanPrice(option) : blackScholes(option).price;
}

/**
 * The tape in order of time: SPY trades every few seconds, its options and those of SPX are quoted around what they are
 * worth.
 */
export function quotedTape(): QuotedRecord[] {
  const random = randomOf(5);
  const records: QuotedRecord[] = [];
  const sequences = new Map<string, number>();
  let spot = 600;
  const put = (record: Omit<QuotedRecord, 'sequence' | 'size' | 'exchange' | 'condition'> & Partial<QuotedRecord>) => {
    const key = `${record.kind} ${record.ticker}`;
    const sequence = (sequences.get(key) ?? 0) + 1;
    sequences.set(key, sequence);
    records.push({ size: 1 + random.below(5), exchange: 302, condition: 209, ...record, sequence });
  };
  const cents = (dollars: number) => Math.round(dollars * 100) / 100;
  const minutes = [...Array(30).keys(), ...Array.from({ length: 10 }, (_, i) => 380 + i)];
  for (const minute of minutes) {
    for (let second = 0; second < 60; second += 5) {
      const ms = quotedOpen + minute * 60_000 + second * 1000;
      spot = cents(spot + (random.below(21) - 10) / 50);
      put({ ms: ms + random.below(900), kind: 'stock', ticker: 'SPY', prices: [spot], exchange: 11, condition: 0 });
      for (const [i, ticker] of quotedContracts.entries()) {
        // Each goes silent for some minutes, each at its own time.
        const isSilent = (minute + 3 * i) % 17 < 4;
        if (isSilent || !random.once(3)) continue;
        const contract = readOptionContract(ticker)!;
        const fair = worth(contract, contract.root === 'SPY' ? spot : spot * 10, ms);
        const bid = Math.max(0, cents(fair - 0.05));
        put({ ms: ms + 1000 + random.below(3900), kind: 'quote', ticker, prices: [bid, cents(bid + 0.1)] });
        if (random.once(6))
          put({
            ms: ms + 4950,
            kind: 'option',
            ticker,
            prices: [Math.max(0.01, cents(fair))],
            exchange: 300 + random.below(3),
          });
      }
      if (second === 30) put({ ms: ms + 100, kind: 'quote', ticker: crossed, prices: [3.2, 3.1] });
      if (minute % 7 === 0 && second === 20)
        put({ ms: ms + 200, kind: 'option', ticker: unquoted, prices: [cents(4 + minute / 100)] });
    }
  }
  put({ ms: quotedOpen + 30_000, kind: 'option', ticker: crossed, prices: [3.15], condition: 248 });
  // A trade that is taken back before its minute is over, and one after it.
  for (const [at, cancelAt] of [
    [121_000, 150_000],
    [301_000, 372_000],
  ] as const) {
    const trade = { kind: 'option', ticker: unquoted, prices: [9.99], size: 77, exchange: 316 } as const;
    put({ ...trade, ms: quotedOpen + at, prices: [9.99] });
    put({ ...trade, ms: quotedOpen + cancelAt, prices: [9.99], condition: 201 });
  }
  put({ ms: quotedClose + 6000, kind: 'stock', ticker: 'SPY', prices: [spot], exchange: 11, condition: 0 });
  records.sort((a, b) => a.ms - b.ms);
  // Numbered in order of time, as the rows of a file are.
  const places = new Map<string, number>();
  for (const record of records) {
    const key = `${record.kind} ${record.ticker}`;
    places.set(key, (places.get(key) ?? 0) + 1);
    record.sequence = places.get(key)!;
  }
  return records;
}

/** A record as a line of the live tape. */
export function liveLineOf({ ms, kind, ticker, prices, size, exchange, condition, sequence }: QuotedRecord): string {
  const stamp = { sip_timestamp: `${ms}000000`, sequence_number: sequence };
  const conditions = condition === 0 ? [] : [condition];
  const [first, second] = prices;
  const record =
    kind === 'stock'
      ? {
          type: 'stock_print',
          symbol: ticker,
          exchange,
          id: String(sequence),
          price: first,
          size: 100,
          conditions,
          ...stamp,
        }
      : kind === 'option'
        ? { type: 'option_print', contract: ticker, exchange, price: first, size, conditions, ...stamp }
        : { type: 'option_quote', contract: ticker, bid_price: first, ask_price: second, ...stamp };
  return `${JSON.stringify(record)}\n`;
}

/** The options of a tape as vendor files' lines. */
export function vendorLinesOf(records: readonly QuotedRecord[]): { trades: string[]; quotes: string[] } {
  const trades = ['ticker,conditions,correction,exchange,price,sip_timestamp,size'];
  const quotes = [
    'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp',
  ];
  for (const { ms, kind, ticker, prices, size, exchange, condition, sequence } of records) {
    if (kind === 'option') trades.push(`${ticker},${condition},0,${exchange},${prices[0]},${ms}000000,${size}`);
    if (kind === 'quote') quotes.push(`${ticker},302,${prices[1]},10,302,${prices[0]},10,${sequence},${ms}000000`);
  }
  return { trades, quotes };
}
