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
