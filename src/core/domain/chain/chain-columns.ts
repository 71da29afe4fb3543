import { type Columns, namesOf } from '../columns.ts';

/** Above the number of contracts that any option has open or trades in a day; sums of a hundred fit 32 bits. */
export const mostContracts = 20_000_000;
/** Dollars per share; larger values are not prices: some sources write the largest double for no value. */
const price = { type: 'float64', from: 0, to: 1e6 } as const;
const contracts = { type: 'int64', from: 0, to: mostContracts } as const;
/** Larger gammas, thetas and vegas are invalid: exposures summed from them would be meaningless. */
const largestGreek = 1e9;

/** Numbers of a source about a contract at an instant, besides its greeks. */
export const quoteColumns = {
  openInterest: { ...contracts, rest: 'oi', description: 'Open interest, contracts, as of the prior close.' },
  volume: { ...contracts, description: 'Contracts traded in the session so far.' },
  bid: { ...price, description: 'Best bid, dollars a share.' },
  ask: { ...price, description: 'Best ask, dollars a share.' },
  last: { ...price, description: 'Last trade, dollars a share.' },
  fmv: { ...price, description: "The source's fair value, dollars a share." },
} as const satisfies Columns;

/** A contract's implied volatility and sensitivities. */
export const greekColumns = {
  iv: {
    type: 'float64',
    from: 0,
    to: 10,
    description: 'Implied volatility, an annualized fraction: 0.1286 = 12.86%.',
  },
  delta: { type: 'float64', from: -1, to: 1, description: 'Change of the option price per $1 of the underlying.' },
  gamma: { type: 'float64', from: 0, to: largestGreek, description: 'Change of delta per $1 of the underlying.' },
  theta: { type: 'float64', from: -largestGreek, to: largestGreek, description: 'Dollars a share per day.' },
  vega: {
    type: 'float64',
    from: 0,
    to: largestGreek,
    description: 'Dollars a share per vol point (0.01 of iv).',
  },
} as const satisfies Columns;

/** All numbers of a source about a contract at an instant. */
export const sourceColumns = { ...quoteColumns, ...greekColumns };

/** The numbers of a chain's row. */
export const chainColumns = {
  ...sourceColumns,
  sharesPerContract: {
    type: 'int32',
    description: 'Shares per contract; null if the deliverable was adjusted and the source does not say how.',
  },
} as const satisfies Columns;

export const quoteNames = namesOf(quoteColumns);
export const greekNames = namesOf(greekColumns);
