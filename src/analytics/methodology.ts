/**
 * The version of the definitions in docs/methodology.md. It is stored with computed data, and raised when the
 * definition of a figure changes.
 */
export const methodologyVersion = '2';

/** Settings for which no standard exists; docs/methodology.md says why each has its value. */
export const methodologySettings = {
  /** The risk-free rate where none is set, continuous, a fraction a year. */
  usualRate: 0.045,
  /** Least share of open interest whose gamma must be known for a capture to be published. */
  minimumOiCoverage: 0.9,
  /**
   * Two-sided strikes nearest the money whose parity forwards are medianed, and how near they are, a fraction of the
   * forward.
   */
  forwardStrikes: 5,
  nearMoney: 0.03,
  /** Pairs near the money from which a forward is read off a European expiry, and an implied spot off any. */
  fewestPairs: 3,
  /** Under this many years to expiry quotes say what the underlying costs and nothing of its yield. */
  shortestYieldYears: 1 / 365,
  /** The expiry of the implied spot is at most this many years away. */
  impliedSpotYears: 10 / 365,
  /** A spot that differs from the implied one by no more than this fraction of it is used. */
  spotTolerance: 0.0005,
  /** Accepted yields of American roots, a fraction a year; what is left of a forward is in its spot. */
  leastYield: -0.02,
  greatestYield: 0.15,
  /** Years between two dividends. */
  dividendSpanYears: 0.25,
  /** An expiry within so many years is inconsistent where its self-check differs from 1 by more than this. */
  selfCheckYears: 30 / 365,
  selfCheckTolerance: 0.05,
  /** Steps of the American tree, and of the coarser one its price is extrapolated with. */
  treeSteps: 101,
  coarseTreeSteps: 51,
  /** Accepted implied volatilities, annualized fractions. */
  minimumVolatility: 0.005,
  maximumVolatility: 10,
  /** A quote whose half spread is worth more volatility than this gives none. */
  maximumVolatilityError: 0.5,
  /** Dollars a price must be inside its bounds to imply a volatility. */
  boundMargin: 1e-9,
  /** A quote older than this gives no mid; a trade older than that no last. */
  maximumQuoteAgeMs: 90_000,
  maximumTradeAgeMs: 15 * 60_000,
  /** With a bid of zero a mid is taken only when the ask is at most this many dollars. */
  maximumAskOfZeroBid: 0.05,
  /** The re-priced profile: levels, and its span as fractions of spot. */
  profileLevels: 60,
  profileFrom: 0.8,
  profileTo: 1.2,
  /** A sign change of the profile counts when both neighbours exceed this share of its largest value. */
  profileNoise: 0.01,
} as const;

/** Settings of what is computed from tapes, for which no standard exists. */
export const tapeSettings = {
  /**
   * A print or quote may come this much after what was executed later, by event time, and still change nothing by it.
   */
  latenessMs: 5000,
  /** The oldest quote that says of a print who wanted it. */
  maximumSideQuoteAgeMs: 5000,
  /** Where between bid (0) and ask (1) in tenths of the spread a buy begins and a sell ends. */
  buyFromTenths: 6,
  sellToTenths: 4,
  /** Prints of a multi-leg trade follow its first within this time. */
  multiLegSpanMs: 50,
  /** Prints of a sweep follow each other within the one, the first within the other. */
  sweepGapMs: 100,
  sweepSpanMs: 500,
  /** Minimum premium of a stored event, dollars. */
  minimumBlockPremiumUsd: 100_000,
  minimumMultiLegPremiumUsd: 100_000,
  minimumSweepPremiumUsd: 50_000,
  /** Prints that are remembered, so that a cancel or a late print can be put right; older ones stand as they are. */
  rememberedPrints: 2 ** 21,
  /** Quotes of a live tape that are remembered, so that a print that comes late has the quote of its time. */
  rememberedQuotes: 2 ** 20,
  /** Contracts of an underlying that are solved every minute, the first of a session to trade. */
  solvedContracts: 10_000,
  /** A bar is taken to be complete this long after its end. */
  completionLagMs: 15_000,
  /** Sessions of a concentration window. */
  concentrationSessions: 20,
  /** Width of a concentration bucket: at least the one (dollars), else this share of the reference price. */
  minimumBucketWidthUsd: 0.01,
  bucketWidthShare: 0.0005,
} as const;
