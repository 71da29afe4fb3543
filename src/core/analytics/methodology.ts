/**
 * The version of the definitions in docs/methodology.md. It is stored with computed data, and increased when the
 * definition of a figure changes.
 */
export const methodologyVersion = '4';

/** Settings for which no standard exists; docs/methodology.md says why each has its value. */
export const methodologySettings = {
  /** The risk-free rate if none is set, continuous, a fraction per year. */
  usualRate: 0.045,
  /**
   * A capture is whole with this share of the contracts of each unsettled expiry and right of the largest one of its
   * session and as many sessions before.
   */
  wholeShare: 0.7,
  wholeSessions: 5,
  /** Files of one chain are quoted within this time, and their spots differ by no more than this fraction. */
  joinedSpanMs: 15 * 60_000,
  joinedSpotTolerance: 0.0025,
  /** Least share of open interest whose gamma must be known for a capture to be published. */
  minimumOiCoverage: 0.9,
  /**
   * Number of pairs nearest the money whose parity forwards give the median, and their maximum distance: a fraction of
   * the price, or the gaps between listed strikes.
   */
  forwardStrikes: 5,
  nearMoney: 0.03,
  nearMoneyGaps: 2.5,
  /** Minimum number of pairs near the money that give a European forward, and an implied spot. */
  fewestPairs: 3,
  /** Before an ex-date, an option is worth clearly more than its exercise from this fraction of the price on. */
  heldMargin: 0.01,
  /** With fewer years to expiry, quotes give the price of the underlying but not its yield. */
  shortestYieldYears: 1 / 365,
  /** The expiry of the implied spot is at most this many whole days away. */
  impliedSpotDays: 10,
  /** A spot that differs from the implied one by no more than this fraction of it is used. */
  spotTolerance: 0.0005,
  /** The last expiry whose pairs vote on the spot, in years, and the widest vote, a fraction of the spot. */
  voteYears: 60 / 365,
  widestVote: 0.02,
  /** The middle of a voted interval no wider than this fraction of the spot is the implied spot. */
  narrowVote: 0.002,
  /** A yield whose quotes are no more uncertain than this, a fraction per year, is believed, whatever it is. */
  believedYieldError: 0.05,
  /** Accepted yields of the others; the rest of a forward is attributed to its spot. */
  leastYield: -0.02,
  greatestYield: 0.15,
  /** Years over which the yield of the implied spot is measured, so that each span has a dividend. */
  yieldSpanYears: 0.25,
  /** A European expiry with at least this many years takes its rate from its own quotes, if near that of the curve. */
  shortestRateYears: 0.1,
  rateTolerance: 0.02,
  /** Without a curve, the accepted rates of its own quotes, a fraction per year. */
  leastRate: -0.02,
  greatestRate: 0.2,
  /** Its pairs: their maximum distance from the money and minimum span, fractions of the price, and minimum number. */
  rateReach: 0.1,
  rateSpan: 0.05,
  fewestRatePairs: 10,
  /** A dividend that quotes show: where they are read, and its accepted size, fractions of the price. */
  stepReach: 0.05,
  leastStep: 0.0005,
  greatestStep: 0.03,
  /** Number of pairs on either side that show it, and by which fraction two expiries may differ. */
  stepPairs: 3,
  stepAgreement: 0.2,
  /** An expiry within this many years is inconsistent if its self-check differs from 1 by more than the tolerance. */
  selfCheckYears: 30 / 365,
  selfCheckTolerance: 0.05,
  /** Steps of the American tree, and of the coarser one used to extrapolate its price. */
  treeSteps: 101,
  coarseTreeSteps: 51,
  /** Accepted implied volatilities, annualized fractions. */
  minimumVolatility: 0.005,
  maximumVolatility: 10,
  /** A quote whose half spread is worth more volatility than this gives no volatility. */
  maximumVolatilityError: 0.5,
  /** The same for an option without a bid, a fraction of its volatility: beyond it the line of its expiry holds. */
  maximumUnbidError: 0.1,
  /** The same for an option in the money, in place of one out of it. */
  maximumInTheMoneyError: 0.1,
  /** A volatility carried to a strike without a bid may price it at most this many dollars over its ask. */
  carriedPriceMargin: 0.01,
  /** Minimum distance of a price from its bounds to imply a volatility, dollars. */
  boundMargin: 1e-9,
  /** Maximum age of a quote for a mid, and of a trade for a last. */
  maximumQuoteAgeMs: 90_000,
  maximumTradeAgeMs: 15 * 60_000,
  /** With a bid of zero there is a mid only if the ask is at most this many dollars. */
  maximumAskOfZeroBid: 0.05,
  /** The re-priced profile: levels, and its span as fractions of spot. */
  profileLevels: 60,
  profileFrom: 0.8,
  profileTo: 1.2,
  /** A sign change of the profile counts if both neighbours exceed this share of its largest value. */
  profileNoise: 0.01,
  /** A flip point further from the price than this fraction of it is remote. */
  remoteFlip: 0.2,
  /** A net gex below this share of Σ|gex| over contracts makes the flip point fragile. */
  fragileNet: 0.01,
} as const;

/** Settings of what is computed from tapes, for which no standard exists. */
export const tapeSettings = {
  /** A print or quote that is at most this late, by event time, gives the same results as one in order. */
  latenessMs: 5000,
  /** Maximum age of a quote that gives a print its side. */
  maximumSideQuoteAgeMs: 5000,
  /** From where between bid (0) and ask (10) a print is a buy, and up to where a sell, in tenths of the spread. */
  buyFromTenths: 6,
  sellToTenths: 4,
  /** Prints of a multi-leg trade follow its first within this time. */
  multiLegSpanMs: 50,
  /** Maximum time between consecutive prints of a sweep, and from its first print to any other. */
  sweepGapMs: 100,
  sweepSpanMs: 500,
  /** Minimum premium of a stored event, dollars. */
  minimumBlockPremiumUsd: 100_000,
  minimumMultiLegPremiumUsd: 100_000,
  minimumSweepPremiumUsd: 50_000,
  /**
   * Number of prints remembered, so that a cancel or a late print can correct events; older prints are not corrected.
   */
  rememberedPrints: 2 ** 21,
  /** Number of quotes of a live tape remembered, so that a late print finds the quote of its time. */
  rememberedQuotes: 2 ** 20,
  /** Contracts per underlying that are solved every minute: the first that trade in the session. */
  solvedContracts: 10_000,
  /** A bar counts as complete this long after its end. */
  completionLagMs: 15_000,
  /** Sessions of a concentration window. */
  concentrationSessions: 20,
  /**
   * Width of a concentration bucket: at least this many dollars; otherwise at most this share of the reference price.
   */
  minimumBucketWidthUsd: 0.01,
  bucketWidthShare: 0.0005,
} as const;
