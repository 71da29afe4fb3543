import type { Dividend, DividendKind } from '../../core/domain/market/dividends.ts';
import type { Rate } from '../../core/domain/market/rates.ts';
import type { Split } from '../../core/domain/market/splits.ts';
import { rateCurve, rateFor, symbolDividends, symbolSplits } from '../../resolvers/corporate.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';
import { marketField } from './as-of.ts';
import { SymbolType } from './symbol.ts';

/** The length of the longest histories, for the cost of a list. */
export const mostSplits = 20;
const mostDividends = 250;
const mostRates = 30;

/** A split, of a symbol or in a range of bars. */
export const SplitType = builder.objectRef<Split>('Split').implement({
  description: 'A split of a share, or a consolidation.',
  fields: (t) => ({
    exDate: t.expose('exDate', { type: 'SessionDate', description: 'The first session of the new shares.' }),
    ratio: t.exposeFloat('ratio', { description: 'New shares for one old: 10 for 10:1, 0.125 for 1:8.' }),
    declared: t.expose('declared', {
      type: 'SessionDate',
      nullable: true,
      description: 'When it was declared; null when unknown.',
    }),
  }),
});

const exDateArgs = builder.args((arg) => ({
  from: arg.field({ type: 'SessionDate', description: 'First ex-date, included.' }),
  to: arg.field({ type: 'SessionDate', description: 'Last ex-date, included.' }),
}));

builder.objectField(SymbolType, 'splits', (t) =>
  t.field({
    type: [SplitType],
    nullable: true,
    description:
      'Known splits, ascending by ex-date; including declared ones to come. not_entitled_tier or attestation_required if the caller may not read the symbol.',
    args: exDateArgs,
    scope: 'market.reference',
    needs: 'symbol',
    price: { once: 0.2, each: 0.02, rows: mostSplits },
    resolve: ({ symbol }, args, context) => symbolSplits(context, symbol, args),
  }),
);

const DividendKindEnum = builder.enumType('DividendKind', {
  description: 'Kind of a dividend: one of a series, or paid once.',
  values: enumValues<DividendKind>({ regular: 'One of a series.', special: 'Paid once.' }),
});

const DividendType = builder.objectRef<Dividend>('Dividend').implement({
  description: 'A dividend of a share: an amount, or a fraction of its price.',
  fields: (t) => ({
    exDate: t.expose('exDate', { type: 'SessionDate', description: 'The first session without it.' }),
    kind: t.expose('kind', { type: DividendKindEnum, description: 'Regular or special.' }),
    amount: t.exposeFloat('amount', {
      nullable: true,
      description: 'Dollars a share; null if it is stated as a ratio.',
    }),
    ratio: t.exposeFloat('ratio', {
      nullable: true,
      description: 'Fraction of the price; null if it is stated as an amount.',
    }),
    declared: t.expose('declared', {
      type: 'SessionDate',
      nullable: true,
      description: 'When it was declared; null when unknown.',
    }),
  }),
});

builder.objectField(SymbolType, 'dividends', (t) =>
  t.field({
    type: [DividendType],
    nullable: true,
    description:
      'Known dividends, ascending by ex-date; including declared ones to come. not_entitled_tier or attestation_required if the caller may not read the symbol.',
    args: exDateArgs,
    scope: 'market.reference',
    needs: 'symbol',
    price: { once: 0.2, each: 0.02, rows: mostDividends },
    resolve: ({ symbol }, args, context) => symbolDividends(context, symbol, args),
  }),
);

const RateType = builder.objectRef<Rate>('Rate').implement({
  description: 'A point of an interest rate curve, or the rate of US Treasury bills.',
  fields: (t) => ({
    date: t.expose('date', {
      type: 'SessionDate',
      description: 'Date of the curve; of bills, the first day on which the rate was in force.',
    }),
    days: t.exposeInt('days', { description: 'Days to maturity.' }),
    rate: t.exposeFloat('rate', { description: 'Continuous rate, a fraction per year.' }),
  }),
});

marketField('rates', (t) =>
  t.field({
    type: [RateType],
    nullable: true,
    description:
      'The last interest rate curve up to a date, ascending by days. Rates between its points are linear in days. If the dataset rates has none in the 31 days before, one point: the mean of three-month US Treasury bills of a month, in force from the first day of the next, which is its date (Federal Reserve, H.15); empty if that is more than 400 days before.',
    args: { date: t.arg({ type: 'SessionDate', description: 'Date. Default: today.' }) },
    scope: 'market.reference',
    price: { once: 0.2, each: 0.02, rows: mostRates },
    resolve: (_root, { date }, context) => rateCurve(context, date ?? null),
  }),
);

marketField('rate', (t) =>
  t.float({
    nullable: true,
    description:
      'Continuous interest rate for a number of days, a fraction per year: linear in days on the curve of rates, which may be that of bills; null if there is none.',
    args: {
      days: t.arg.int({ required: true, description: 'Days to maturity, 1 or more.' }),
      date: t.arg({ type: 'SessionDate', description: 'Date. Default: today.' }),
    },
    scope: 'market.reference',
    price: { once: 0.2, each: 0.02 },
    resolve: (_root, { days, date }, context) => rateFor(context, days, date ?? null),
  }),
);
