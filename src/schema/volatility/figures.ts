import type { TermExpiry } from '../../resolvers/chain/volatility.ts';
import {
  premiumOf,
  type VariancePremium,
  type VolatilityFigures,
  volatilityFigures,
} from '../../resolvers/volatility/figures.ts';
import { rankOf, rankSessions, type VolatilityRank } from '../../resolvers/volatility/rank.ts';
import { type RealizedVolatility, realizedOf, realizedSessions } from '../../resolvers/volatility/realized.ts';
import { builder } from '../builder.ts';
import { SymbolVolatilityType, VolatilityTermInterface, volatilityCost } from '../chain/volatility.ts';

const realizedCost = { once: 1.5, each: 0.06 };

const ExpirySkewType = builder.objectRef<TermExpiry>('ExpirySkew').implement({
  description:
    'Skew of one expiry on its out-of-the-money smile, annualized fractions; linear in delta between strikes.',
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
    dte: t.exposeInt('dte', {
      description: 'Calendar days from the New York date of the capture to the last session of the expiry.',
    }),
    atmIv: t.exposeFloat('atmIv', {
      nullable: true,
      description: 'At-the-money implied volatility, an annualized fraction; null when unknown.',
    }),
    riskReversal25: t.exposeFloat('riskReversal25', {
      nullable: true,
      description:
        'Volatility of the 25-delta call less that of the 25-delta put, an annualized fraction. Null if the strikes do not reach 25 delta on both sides.',
    }),
    butterfly25: t.exposeFloat('butterfly25', {
      nullable: true,
      description:
        'Mean volatility of the 25-delta call and put less atmIv, an annualized fraction; null with riskReversal25 or atmIv.',
    }),
  }),
});

const RealizedVolatilityType = builder.objectRef<RealizedVolatility>('RealizedVolatility').implement({
  description: `Realized volatility over ${realizedSessions} sessions, annualized fractions (252 sessions a year), adjusted for splits.`,
  fields: (t) => ({
    from: t.expose('from', { type: 'SessionDate', description: 'First session.' }),
    through: t.expose('through', { type: 'SessionDate', description: 'Last session.' }),
    closeToClose: t.exposeFloat('closeToClose', {
      description: 'Standard deviation (n − 1) of the logarithmic returns from close to close, an annualized fraction.',
    }),
    parkinson: t.exposeFloat('parkinson', { description: 'Parkinson: from highs and lows, an annualized fraction.' }),
    garmanKlass: t.exposeFloat('garmanKlass', {
      description: 'Garman–Klass: from highs, lows, opens and closes, an annualized fraction.',
    }),
    yangZhang: t.exposeFloat('yangZhang', {
      description:
        'Yang–Zhang: overnight, open to close and Rogers–Satchell variance together, an annualized fraction.',
    }),
  }),
});

const VariancePremiumType = builder.objectRef<VariancePremium>('VariancePremium').implement({
  description:
    'Implied volatility of the next 30 days (IV30) against realized volatility, close to close, of the last 20 sessions (RV20).',
  fields: (t) => ({
    variance: t.exposeFloat('variance', {
      description: 'Variance risk premium: IV30² − RV20², an annualized variance (the square of a fraction).',
    }),
    volatility: t.exposeFloat('volatility', { description: 'IV30 − RV20, an annualized fraction.' }),
  }),
});

const VolatilityRankType = builder.objectRef<VolatilityRank>('VolatilityRank').implement({
  description: 'Rank of a volatility among its daily values of a year.',
  fields: (t) => ({
    rank: t.exposeFloat('rank', {
      nullable: true,
      description: 'IV rank, percent: 100·(x − min)/(max − min). Null if all values are equal.',
    }),
    percentile: t.exposeFloat('percentile', {
      description: 'IV percentile, percent: 100 × the days with a lower value, divided by all days.',
    }),
    days: t.exposeInt('days', { description: 'Number of daily values.' }),
  }),
});

const VolatilityFiguresType = builder.objectRef<VolatilityFigures>('VolatilityFigures').implement({
  description: 'Volatility figures of a symbol: at fixed maturities, by expiry, and against realized volatility.',
  interfaces: [VolatilityTermInterface],
  fields: (t) => {
    const atDays = (days: keyof VolatilityFigures['maturities']) =>
      t.float({
        nullable: true,
        description: `At-the-money implied volatility at ${days} days, an annualized fraction: total variance linear in time between the expiries on both sides. Null beyond them.`,
        resolve: ({ maturities }) => maturities[days],
      });
    return {
      iv7: atDays(7),
      iv30: atDays(30),
      iv60: atDays(60),
      iv90: atDays(90),
      skew: t.field({
        type: [ExpirySkewType],
        size: { rows: 'expiries' },
        description: 'Skew at 25 delta by expiry, ascending.',
        resolve: ({ expiries }) => expiries,
      }),
      rank: t.field({
        type: VolatilityRankType,
        nullable: true,
        scope: 'parent',
        price: { once: 2.5, each: 0.5 },
        description: `Rank of iv30 among its daily closes of the last ${rankSessions.most} sessions, including its own. A daily close is that of the last capture within 15 minutes before the close, else of the dataset volatility-days. Null with fewer than ${rankSessions.fewest}.`,
        resolve: (figures, _args, context) => rankOf(context, figures),
      }),
      realized: t.field({
        type: RealizedVolatilityType,
        nullable: true,
        scope: 'parent',
        price: realizedCost,
        description: `Realized volatility; null without daily bars of ${realizedSessions + 1} sessions in a row.`,
        resolve: ({ symbol }, _args, context) => realizedOf(context, symbol),
      }),
      premium: t.field({
        type: VariancePremiumType,
        nullable: true,
        scope: 'parent',
        price: realizedCost,
        description: 'Implied against realized volatility; null if either is unknown.',
        resolve: (figures, _args, context) => premiumOf(context, figures),
      }),
    };
  },
});

builder.objectField(SymbolVolatilityType, 'figures', (t) =>
  t.field({
    type: VolatilityFiguresType,
    nullable: true,
    scope: 'analytics.vol',
    price: volatilityCost,
    description: 'Volatility at fixed maturities, skew by expiry, and realized volatility.',
    resolve: ({ symbol }, _args, context) => volatilityFigures(context, symbol),
  }),
);
