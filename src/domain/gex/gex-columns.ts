import type { Columns } from '../columns.ts';

const dollars = { type: 'float64' } as const;
const contracts = { type: 'int64', graph: 'Int' } as const;
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
    description: 'At-the-money implied volatility, an annualized fraction; null when not solved.',
  },
  moveRatio: {
    type: 'float64',
    description:
      'Self-check: expectedMoveSigma divided by 1.2533 times expectedMoveStraddle, 1 if the two agree. Null if either is null or an older version stored the capture.',
  },
} as const satisfies Columns;

/** Net gamma exposure were the underlying at a price. */
export const profileColumns = {
  price: { ...dollars, nullable: false, description: 'Price of the underlying, dollars.' },
  gex: { ...dollars, nullable: false, description: 'Dollars of dealer hedging per $1 move at that price.' },
} as const satisfies Columns;
