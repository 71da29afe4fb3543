/** Rank of a symbol's volatility among its daily values of a year. */
export interface VolatilityRank {
  /** 100·(x − min)/(max − min), percent; null when all values are equal. */
  rank: number | null;
  /** 100·(days below x)/days, percent. */
  percentile: number;
  /** Number of daily values, today's included. */
  days: number;
}

/** Daily values that are ranked among, today's included: a year of sessions; and the fewest that give a rank. */
export const rankSessions = { most: 252, fewest: 60 };

/** The rank of the last of daily values among all of them, itself included; null with fewer than 60. */
export function volatilityRank(values: readonly number[]): VolatilityRank | null {
  const recent = values.slice(-rankSessions.most);
  if (recent.length < rankSessions.fewest) return null;
  const today = recent.at(-1)!;
  const [least, most] = [Math.min(...recent), Math.max(...recent)];
  return {
    rank: most === least ? null : (100 * (today - least)) / (most - least),
    percentile: (100 * recent.filter((value) => value < today).length) / recent.length,
    days: recent.length,
  };
}
