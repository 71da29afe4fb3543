import type { Columns } from '../columns.ts';

const dollars = { type: 'float64' } as const;
const contracts = { type: 'int64', graph: 'Int' } as const;
const count = { type: 'int32' } as const;
const strike = { type: 'int32', graph: 'StrikeThousandths' } as const;

/** Exposures of a row of a strike curve. The sum over expiries is unknown if one of them is. */
export const exposureColumns = {
  gex: {
    ...dollars,
    nullable: false,
    description: 'Dollars of dealer hedging per $1 move: calls positive, puts negative.',
  },
  deltaAdj: {
    ...dollars,
    description: 'Delta-adjusted gex (|delta| × gex, summed over contracts), dollars per $1 move; null when unknown.',
  },
} as const satisfies Columns;

/** Numbers of some contracts of a row; null if it has none of them. The sum over expiries is of what is known. */
export const partColumns = {
  callOi: { ...contracts, description: 'Open interest of calls, contracts; null if no call is listed.' },
  putOi: { ...contracts, description: 'Open interest of puts, contracts; null if no put is listed.' },
  gex0dte: {
    ...dollars,
    rest: 'gex_0dte',
    description: 'Part of gex that expires in the session of the capture, dollars per $1 move; null if none does.',
  },
} as const satisfies Columns;

/** The numbers of a row of a strike curve, which is of a strike, or of a strike and an expiry. */
export const strikeColumns = { ...exposureColumns, ...partColumns };

/** The numbers of a capture's expiry. */
export const expiryColumns = {
  maxPain: {
    ...strike,
    description:
      'Strike at which option holders receive the least at expiry, thousandths of a dollar; null without open interest.',
  },
  expectedMoveStraddle: {
    ...dollars,
    description: 'Price of the at-the-money straddle, dollars a share; null if a leg has no price.',
  },
  expectedMoveSigma: {
    ...dollars,
    description:
      'One standard deviation of the price at expiry, S·σ·√T, dollars; null if the volatility is unknown. S is the price that options are priced with: the spot, the implied spot if that is stale, or the forward if options follow it.',
  },
  atmIv: {
    type: 'float64',
    description:
      'Implied volatility at the forward, an annualized fraction: total variance linear in ln(K/F) between the solved strikes on both sides; null if a side has none.',
  },
  moveRatio: {
    type: 'float64',
    description:
      'Self-check: call plus put of the listed strike nearest the forward, divided by their value at the volatility of its out-of-the-money side, 1 if the two agree. Null if that strike has no volatility or price of its own, or an older version stored the capture.',
  },
} as const satisfies Columns;

/** Net gamma exposure were the underlying at a price. */
export const profileColumns = {
  price: { ...dollars, nullable: false, description: 'Price of the underlying, dollars.' },
  gex: { ...dollars, nullable: false, description: 'Dollars of dealer hedging per $1 move at that price.' },
} as const satisfies Columns;

/** The numbers of a capture. */
export const captureColumns = {
  spot: {
    ...dollars,
    description: 'Price of the underlying, dollars; null when unknown.',
  },
  priorCloseSpot: {
    ...dollars,
    description: 'Prior close of the underlying, dollars; null when unknown.',
  },
  impliedSpot: {
    ...dollars,
    description:
      'Price of the underlying that the option quotes imply by put-call parity, dollars; null if they imply none or an older version stored the capture.',
  },
  inconsistentExpiries: {
    ...count,
    description: 'Number of inconsistent expiries; null if an older version stored the capture.',
  },
  netGex: {
    ...dollars,
    nullable: false,
    description: 'Sum of gex over all strikes, before any trim; dollars per $1 move.',
  },
  flipPoint: {
    ...dollars,
    description: 'Price at which the cumulative net gex curve crosses zero, dollars; null if it does not.',
  },
  zeroGamma: {
    ...dollars,
    description: 'Price near the spot at which re-priced net gamma changes sign, dollars; null if there is none.',
  },
  callWall: {
    ...strike,
    description:
      'Strike with the largest positive net gex, thousandths of a dollar; null if no strike has one, or if an older version stored the capture.',
  },
  putWall: {
    ...strike,
    description:
      'Strike with the most negative net gex, thousandths of a dollar; null if no strike has one, or if an older version stored the capture.',
  },
  callGexPeak: {
    ...strike,
    description: 'Strike with the largest call gex, thousandths of a dollar; null if there is none.',
  },
  putGexPeak: {
    ...strike,
    description:
      'Strike with the largest absolute put gex, thousandths of a dollar; null if there is none. The two peaks can be in reverse order, so they are not walls.',
  },
  netVanna: {
    ...dollars,
    description: 'Dollars of dealer delta per vol point (0.01 of volatility); null when not computed.',
  },
  netCharm: {
    ...dollars,
    description: 'Dollars of dealer delta per day; null when not computed.',
  },
  gammaDecimals: {
    ...count,
    description:
      "Number of decimals that the source prints gammas with. Few decimals bias a net of the source's gammas. Null if the source gives none, or if an older version stored the capture.",
  },
  oiCoverage: {
    type: 'float64',
    nullable: false,
    description: 'Fraction of open interest with a known gamma, 0 to 1.',
  },
  contractCount: {
    ...count,
    nullable: false,
    description: 'Number of contracts in the sums.',
  },
  gammaAbsent: {
    ...count,
    nullable: false,
    description: 'Contracts with open interest that were skipped because their gamma is unknown.',
  },
} as const satisfies Columns;
