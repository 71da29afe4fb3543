/** The kinds of stored data that can be recomputed. */
export const recomputedNames = ['chain', 'greeks', 'flow', 'off-exchange'] as const;
export type RecomputedDataset = (typeof recomputedNames)[number];

/** The content of each, for `--help`. */
export const recomputedContents: Record<RecomputedDataset, string> = {
  chain:
    'chain captures and dealer gamma, of sessions computed by an older version of the methodology or with other roots, rates or dividends than are stored',
  greeks: 'minute volatilities and greeks of contracts, of sessions solved by an older version of the methodology',
  flow: 'sides of large trades, of sessions whose option quotes are stored',
  'off-exchange':
    'off-exchange concentration that an earlier version made from levels before disclosure; of sealed sessions too',
};
