/** Tiers, lowest first (spec 2.2). */
export const tiers = ['free', 'basic', 'pro'] as const;
export type Tier = (typeof tiers)[number];

/** Whether `tier` reaches `floor`. */
export function reaches(tier: Tier, floor: Tier): boolean {
  return tiers.indexOf(tier) >= tiers.indexOf(floor);
}

/** What an account declared itself to be for market data; `non_professional` is what "attested" means. */
export const classifications = ['professional', 'non_professional'] as const;
export type Classification = (typeof classifications)[number];
