import { exchangeDate } from '../../domain/market-time.ts';
import { tradierChain } from '../formats/tradier.ts';
import { jsonTexts, parseExact } from '../text/json-values.ts';
import { stampedMs } from '../text/written-times.ts';
import { itemsOf } from '../vendors/tradier.ts';
import type { ChainPart, VendorChain } from './vendor-chain.ts';

type Keys = Readonly<Record<string, unknown>>;

/** Epoch ms of digits; NaN for 0 or another value. */
const msOf = (value: unknown) =>
  typeof value === 'string' && /^[1-9]\d{9,}$/.test(value) ? Number(value) : Number.NaN;

function partOf(option: Keys): ChainPart {
  const times = [msOf(option.bid_date), msOf(option.ask_date), msOf(option.trade_date)];
  const { delta, gamma, theta, vega, mid_iv: iv, updated_at: updated } = (option.greeks ?? {}) as Keys;
  const newest = Math.max(...times.filter((ms) => !Number.isNaN(ms)));
  // Greeks are computed hourly; those of another day are not of these quotes.
  const updatedMs = stampedMs(`${updated ?? ''}Z`);
  const areKnown = Number.isFinite(newest) && Number.isFinite(updatedMs);
  const isToday = areKnown && exchangeDate(newest) === exchangeDate(updatedMs);
  const { bid, ask, last, volume, open_interest: openInterest } = option;
  return {
    contract: String(option.symbol),
    numbers: { bid, ask, last, volume, openInterest, ...(isToday && { iv, delta, gamma, theta, vega }) },
    shares: option.contract_size,
    times,
  };
}

/** Contracts of one or more expiries, each an answer. They do not have the price of the underlying. */
export const tradierChainParts: VendorChain = {
  format: tradierChain,
  isJson: true,
  async *parts(texts) {
    let line = 0;
    for await (const page of jsonTexts(texts))
      for (const option of itemsOf(parseExact(page) as Keys, 'options', 'option'))
        yield { line: ++line, found: [partOf(option)] };
  },
};
