/** Tiers, lowest first (spec 2.2). */
export const tiers = ['free', 'basic', 'pro'] as const;
export type Tier = (typeof tiers)[number];

/** True if `tier` reaches `floor`. */
export function reaches(tier: Tier, floor: Tier): boolean {
  return tiers.indexOf(tier) >= tiers.indexOf(floor);
}

/** Declarations of an account for market data; `non_professional` counts as attested. */
export const classifications = ['professional', 'non_professional'] as const;
export type Classification = (typeof classifications)[number];

/** The counter of a request: that of a tier's caller, or without a credential of the client's address. */
export type RatePool = Tier | 'anonymous';

/** Requests per minute of each pool. */
export type Rates = Record<RatePool, number>;

/** Default rates, which settings (`RATE_FREE` and so on) override. */
export const defaultRates: Readonly<Rates> = { free: 60, basic: 300, pro: 600, anonymous: 60 };

/** Seconds of a minute, which begins with its first request. */
export const rateWindowSeconds = 60;

/** Public text of the rule. */
export function rateRule(limit: number): string {
  return `At most ${limit} requests per minute.`;
}

/** The public text of a request over its rate. `cost`: the cost of the request itself. */
export function rateExceeded(limit: number, { cost, anonymous }: { cost: number; anonymous: boolean }): string {
  const whose = anonymous ? ' from one address without a credential' : '';
  const own = cost > 1 ? `; this one costs ${cost}` : '';
  return `More than ${limit} requests a minute${whose}${own}.`;
}

/** The public text of a request that costs more than a whole minute: a retry would fail too. */
export function overMinute(cost: number, limit: number): string {
  return `The request costs ${cost} requests; the limit is ${limit} per minute. Ask for less at a time, such as fewer symbols, rows or fields.`;
}
