import type { Tier } from './tier.ts';

/** Whose minute a request is taken from: a tier's caller, or without a credential the client's address. */
export type RatePool = Tier | 'anonymous';

/** Requests a minute of each pool. */
export type Rates = Record<RatePool, number>;

/** The rates of a server whose settings (`RATE_FREE` and so on) name no others. */
export const defaultRates: Readonly<Rates> = { free: 60, basic: 300, pro: 600, anonymous: 60 };

/** Seconds of a minute, which begins with its first request. */
export const rateWindowSeconds = 60;

/** The rule in public texts. */
export function rateRule(limit: number): string {
  return `At most ${limit} requests per minute.`;
}

/** The public text of a request over its rate. `cost`: the requests that it costs itself. */
export function rateExceeded(limit: number, { cost, anonymous }: { cost: number; anonymous: boolean }): string {
  const whose = anonymous ? ' from one address without a credential' : '';
  const own = cost > 1 ? `; this one costs ${cost}` : '';
  return `More than ${limit} requests a minute${whose}${own}.`;
}
