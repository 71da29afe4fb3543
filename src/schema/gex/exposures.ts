import {
  type ExpiryExposures,
  type Exposures,
  type ExposuresMeta,
  type ExposuresPage,
  type StrikeExposures,
  symbolExposures,
} from '../../resolvers/chain/exposures.ts';
import { builder } from '../builder.ts';
import { instantArgs } from '../instant-args.ts';
import { metaOf } from '../meta-of.ts';
import { delayedSourceTime, QuoteTimeInterface } from '../quote-time.ts';
import { SymbolGexType } from './gex.ts';

const ExposuresInterface = builder.interfaceRef<Exposures>('ExposureFigures').implement({
  description: 'Exposures of open contracts, each contract rounded to a cent.',
  resolveType: (figures) =>
    'strike' in figures ? 'StrikeExposures' : 'expiry' in figures ? 'ExpiryExposures' : 'TotalExposures',
  fields: (t) => ({
    delta: t.exposeFloat('delta', {
      description: 'Delta exposure: dollars of the underlying that holders are long. Calls positive, puts negative.',
    }),
    vanna: t.exposeFloat('vanna', {
      description: 'Vanna exposure: dollars of dealer delta gained per vol point (0.01 of volatility).',
    }),
    charm: t.exposeFloat('charm', { description: 'Charm exposure: dollars of dealer delta gained per day.' }),
    vega: t.exposeFloat('vega', {
      description: 'Vega exposure: dollars per vol point (0.01 of volatility). Calls positive, puts negative.',
    }),
  }),
});

const TotalExposuresType = builder.objectRef<Exposures>('TotalExposures').implement({
  description: 'Exposures of a whole chain.',
  interfaces: [ExposuresInterface],
});

const StrikeExposuresType = builder.objectRef<StrikeExposures>('StrikeExposures').implement({
  description: 'Exposures at one strike, over all expiries.',
  interfaces: [ExposuresInterface],
  fields: (t) => ({
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
  }),
});

const ExpiryExposuresType = builder.objectRef<ExpiryExposures>('ExpiryExposures').implement({
  description: 'Exposures of one expiry, over all strikes.',
  interfaces: [ExposuresInterface],
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
  }),
});

const ExposuresMetaType = metaOf<ExposuresMeta>('GexExposuresMeta', 'prices', 'Metadata of exposures.', (t) => ({
  sourceTime: t.expose('sourceTime', { type: 'EpochMs', nullable: true, description: delayedSourceTime }),
  note: t.exposeString('note', {
    nullable: true,
    description:
      'Why there are no exposures; or the date of an old capture. Null if there are some of the last session.',
  }),
}));

const ExposuresPageType = builder.objectRef<ExposuresPage>('GexExposures').implement({
  description: 'Delta, vanna, charm and vega exposure of a chain. byStrike and byExpiry each add up to the total.',
  interfaces: [QuoteTimeInterface],
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    sessionDate: t.expose('sessionDate', {
      type: 'SessionDate',
      nullable: true,
      description: 'Exchange session of the capture; null if there is none.',
    }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null if there is no chain.',
    }),
    spot: t.exposeFloat('spot', {
      nullable: true,
      description: 'Price of the underlying at the capture, dollars; null when unknown.',
    }),
    total: t.field({
      type: TotalExposuresType,
      nullable: true,
      description: 'Sums over all contracts; null without a chain or a price of the underlying.',
      resolve: ({ exposures }) => exposures?.total ?? null,
    }),
    byStrike: t.field({
      type: [StrikeExposuresType],
      size: { rows: 'strikes' },
      description: 'Sums by strike, ascending. Strikes without open interest of a known volatility are absent.',
      resolve: ({ exposures }) => exposures?.byStrike ?? [],
    }),
    byExpiry: t.field({
      type: [ExpiryExposuresType],
      size: { rows: 'expiries' },
      description: 'Sums by expiry, ascending.',
      resolve: ({ exposures }) => exposures?.byExpiry ?? [],
    }),
    oiCoverage: t.float({
      nullable: true,
      description: 'Fraction of open interest with a known volatility, 0 to 1; null without exposures.',
      resolve: ({ exposures }) => exposures?.oiCoverage ?? null,
    }),
    contractCount: t.int({
      description: 'Number of contracts in the sums.',
      resolve: ({ exposures }) => exposures?.contractCount ?? 0,
    }),
    meta: t.expose('meta', { type: ExposuresMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(SymbolGexType, 'exposures', (t) =>
  t.field({
    type: ExposuresPageType,
    nullable: true,
    scope: 'analytics.gex',
    price: { once: 2, each: 0.3 },
    description: 'Delta, vanna, charm and vega exposure of the latest chain, or of the one stored for a time.',
    args: {
      ...instantArgs('The last chain at or before this time. For a bare date: the last chain of that date.'),
    },
    resolve: ({ symbol }, args, context) => symbolExposures(context, symbol, args),
  }),
);
