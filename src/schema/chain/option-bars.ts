import type { Bar } from '../../core/domain/market/bar.ts';
import { optionBarNumbers } from '../../core/domain/market/bar-columns.ts';
import {
  type OptionBarsMeta,
  type OptionBarsPage,
  optionBarLimits,
  optionBarRows,
  optionBars,
} from '../../resolvers/chain/option-bars.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { itemsAsked } from '../cost.ts';
import { BarColumnsType } from '../market/stock-bars.ts';
import { metaOf } from '../meta-of.ts';
import { OptionContractType } from './contract.ts';

/** A bar of a contract. */
export const OptionBarType = builder.objectRef<Bar>('OptionBar').implement({
  description: 'One OHLCV bar of an option contract.',
  fields: (t) => columnFields(t, optionBarNumbers),
});

const OptionBarsMetaType = metaOf<OptionBarsMeta>(
  'OptionBarsMeta',
  'market',
  "Metadata of a contract's bars.",
  (t) => ({
    session: t.expose('session', { type: 'SessionDate', description: 'The session served, New York.' }),
    count: t.exposeInt('count', { description: 'Number of bars in the answer.' }),
    note: t.exposeString('note', { nullable: true, description: 'Why there are no bars; null if there are any.' }),
    limitClamped: t.exposeBoolean('limitClamped', {
      nullable: true,
      description: 'True if a larger limit was requested; null otherwise.',
    }),
  }),
);

const OptionBarsPageType = builder.objectRef<OptionBarsPage>('OptionBarsPage').implement({
  description: 'Bars of a contract for one session, as rows and as columns.',
  fields: (t) => ({
    contract: t.expose('contract', { type: OptionContractType, description: 'The contract.' }),
    timeframe: t.expose('timeframe', { type: 'OptionTimeframe', description: 'Length of a bar.' }),
    rows: t.field({
      type: [OptionBarType],
      size: { rows: 'page' },
      description: 'Bars ascending by time.',
      resolve: optionBarRows,
    }),
    columns: t.field({ type: BarColumnsType, description: 'The same bars as columns.', resolve: (page) => page.bars }),
    meta: t.expose('meta', { type: OptionBarsMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.objectField(OptionContractType, 'bars', (t) =>
  t.field({
    type: OptionBarsPageType,
    nullable: true,
    description: 'The latest OHLCV bars of the contract in one session. Recent sessions only.',
    args: {
      timeframe: t.arg({ type: 'OptionTimeframe', defaultValue: '1m', description: 'Length of a bar.' }),
      session: t.arg({
        type: 'SessionDate',
        description: 'The session. Default: today if it is a trading day, else the trading day before.',
      }),
      limit: t.arg.int({
        description: `Number of bars; the latest are returned. Default ${optionBarLimits.default}, at most ${optionBarLimits.max}; a larger value is clamped and reported.`,
      }),
    },
    scope: 'market.bars',
    price: {
      once: 1.2,
      each: ({ page }) => 0.05 + 0.0002 * page,
      sizes: ({ limit }) => ({ page: itemsAsked(limit, optionBarLimits.max, optionBarLimits.default) }),
    },
    resolve: (contract, args, context) => optionBars(context, contract, args),
  }),
);
