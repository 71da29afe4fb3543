// A live tape in a process of its own: `order` comes as a message, the lines go to standard output at a steady rate.
import { setTimeout as delay } from 'node:timers/promises';
import { randomFrom } from '../src/intake/sample/market/random.ts';
import { benchMarket, pick } from './tape-market.ts';

/** A tape to be sent. */
export interface FeedOrder {
  printsPerSecond: number;
  seconds: number;
  contracts: number;
  /** Lead of the market's clock over the machine's, ms. */
  aheadMs: number;
}

/** Interval of marks, ms: a price of SPY, and a block. */
export const markEveryMs = 250;
export const markPrice = (mark: number) => Math.round(100 * (600 + mark / 100)) / 100;
export const markSize = (mark: number) => 5000 + mark;
const markContract = 'O:SPY261218C00700000';

/** Lines are sent so often, ms. */
const everyMs = 20;
const exchanges = [300, 301, 302, 303, 304, 307, 308, 309, 312, 313, 316, 318];

/** The contracts that trade most, with what one costs, and the chance of a print being of it or of one before. */
function liveContracts(count: number, random: { next(): number }) {
  const market = benchMarket(random as Parameters<typeof benchMarket>[0]);
  const all = market.flatMap(({ contracts, upTo, share, price, volatility }) =>
    contracts.map(({ id, strike, years, isCall }, i) => ({
      id,
      weight: share * (upTo[i]! - (upTo[i - 1] ?? 0)),
      cents: Math.max(
        1,
        Math.round(
          100 * (Math.max(0, isCall ? price - strike : strike - price) + 0.4 * price * volatility * years ** 0.5),
        ),
      ),
    })),
  );
  const most = all.sort((a, b) => b.weight - a.weight).slice(0, count);
  let sum = 0;
  const upTo = Float64Array.from(most, ({ weight }) => {
    sum += weight;
    return sum;
  });
  return { most, upTo: upTo.map((one) => one / sum) };
}

async function send(order: FeedOrder): Promise<void> {
  const random = randomFrom(7);
  const { most, upTo } = liveContracts(order.contracts, random);
  const perTick = Math.round((order.printsPerSecond * everyMs) / 1000);
  const startMs = Date.now() + order.aheadMs;
  process.send!({ startMs });
  let sequence = 0;
  for (let tick = 0; tick < (order.seconds * 1000) / everyMs; tick++) {
    const tsMs = startMs + tick * everyMs;
    const waitMs = tsMs - order.aheadMs - Date.now();
    if (waitMs > 0) await delay(waitMs);
    const lines: string[] = [];
    if ((tick * everyMs) % markEveryMs < everyMs) {
      const mark = Math.floor((tick * everyMs) / markEveryMs);
      const stamp = `"sip_timestamp":"${tsMs}000000","sequence_number":${++sequence}`;
      lines.push(
        `{"type":"stock_print","symbol":"SPY","exchange":11,"id":"m${mark}","price":${markPrice(mark)},"size":100,${stamp}}\n`,
        `{"type":"option_print","contract":"${markContract}","exchange":300,"price":2,"size":${markSize(mark)},"conditions":[209],${stamp}}\n`,
      );
    }
    for (let i = 0; i < perTick; i++) {
      const { id, cents } = most[pick({ upTo }, random)]!;
      const price = Math.max(1, Math.round(cents * (0.98 + 0.04 * random.next()))) / 100;
      const micros = String(Math.floor((i / perTick) * everyMs * 1000)).padStart(5, '0');
      const stamp = `${BigInt(tsMs) * 1000n + BigInt(micros)}000`;
      const exchange = exchanges[Math.floor(random.next() * exchanges.length)]!;
      lines.push(
        `{"type":"option_print","contract":"${id}","exchange":${exchange},"price":${price},"size":${1 + Math.floor(random.next() * 12)},"conditions":[209],"sip_timestamp":"${stamp}","sequence_number":${++sequence}}\n`,
      );
    }
    if (!process.stdout.write(lines.join(''))) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  process.send!({ sent: sequence });
}

if (process.argv.includes('--feed'))
  process.once('message', (order) => void send(order as FeedOrder).then(() => process.disconnect()));
