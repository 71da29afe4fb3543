import { type SectorAverage, type SectorsMeta, type SectorsPage, sectors } from '../../resolvers/market/movers.ts';
import { builder } from '../builder.ts';
import { registryQuotesCost } from '../cost.ts';
import { metaOf } from '../meta-of.ts';
import { marketField } from './as-of.ts';

const SectorAverageType = builder.objectRef<SectorAverage>('SectorAverage').implement({
  description: 'Average change of a sector in the latest session.',
  fields: (t) => ({
    sector: t.exposeString('sector', { description: 'Sector; other = symbols the sector map does not cover.' }),
    symbols: t.expose('symbols', {
      size: { rows: 'symbolsOfSector' },
      type: ['Ticker'],
      description: 'Symbols of the sector, ascending, including those without data.',
    }),
    avgChangePct: t.exposeFloat('avgChangePct', {
      nullable: true,
      description: "Unweighted mean of its symbols' changes, percent; null if no symbol has data.",
    }),
    count: t.exposeInt('count', { description: 'Number of symbols in the mean.' }),
  }),
});

const SectorsMetaType = metaOf<SectorsMeta>('SectorsMeta', 'market', 'Metadata of sector averages.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of sectors.' }),
  computedAt: t.expose('computedAt', {
    type: 'EpochMs',
    description:
      'When the averages were computed, epoch ms. They are computed once a minute and shared by all callers.',
  }),
  date: t.expose('date', {
    type: 'SessionDate',
    nullable: true,
    description: 'The date of the request; not applied.',
  }),
  note: t.exposeString('note', { description: 'A remark on these rows.' }),
}));

const SectorsPageType = builder.objectRef<SectorsPage>('Sectors').implement({
  description: 'Sector averages.',
  fields: (t) => ({
    rows: t.field({
      type: [SectorAverageType],
      size: { rows: 'sectors' },
      description: 'Sectors ascending by name, other last. With an API key, index symbols are omitted.',
      resolve: (page) => page.rows,
    }),
    meta: t.field({ type: SectorsMetaType, description: 'Metadata of the averages.', resolve: (page) => page.meta }),
  }),
});

marketField('sectors', (t) =>
  t.field({
    type: SectorsPageType,
    nullable: true,
    description: 'Average change per sector in the latest session, over the registered symbols.',
    args: { date: t.arg({ type: 'SessionDate', description: 'Returned in meta; not applied.' }) },
    scope: 'market.screener',
    price: { once: 0.3, each: ({ past = 0 }) => past * registryQuotesCost },
    resolve: (_root, { date }, context) => sectors(context, date ?? null),
  }),
);
