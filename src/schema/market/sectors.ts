import { type SectorAverage, type SectorsMeta, type SectorsPage, sectors } from '../../resolvers/market/sectors.ts';
import { builder } from '../builder.ts';
import { costs } from '../cost.ts';
import { ResponseMetaInterface } from '../response-meta.ts';

const SectorAverageType = builder.objectRef<SectorAverage>('SectorAverage').implement({
  description: 'How a sector moved in the latest session.',
  fields: (t) => ({
    sector: t.exposeString('sector', { description: 'Sector; other = symbols the sector map does not cover.' }),
    symbols: t.expose('symbols', {
      extensions: costs({ rows: 'symbolsOfSector' }),
      type: ['Ticker'],
      description: 'Its symbols ascending, with data or without.',
    }),
    avgChangePct: t.exposeFloat('avgChangePct', {
      nullable: true,
      description: 'Unweighted mean of the changes of its symbols with data, percent; null when none has any.',
    }),
    count: t.exposeInt('count', { description: 'Symbols that contributed.' }),
  }),
});

const SectorsMetaType = builder.objectRef<SectorsMeta>('SectorsMeta').implement({
  description: 'Metadata of sector averages.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    count: t.exposeInt('count', { description: 'Number of sectors.' }),
    computedAt: t.expose('computedAt', {
      type: 'EpochMs',
      description: 'When the averages were computed, epoch ms; once a minute for everybody.',
    }),
    date: t.expose('date', { type: 'SessionDate', nullable: true, description: 'As sent; not applied.' }),
    note: t.exposeString('note', { description: 'What to know of these rows.' }),
  }),
});

const SectorsPageType = builder.objectRef<SectorsPage>('Sectors').implement({
  description: 'Sector averages.',
  fields: (t) => ({
    rows: t.field({
      type: [SectorAverageType],
      extensions: costs({ rows: 'sectors' }),
      description: 'Sectors ascending by name, other last. With an API key index symbols are not in them.',
      resolve: (page) => page.rows,
    }),
    meta: t.field({ type: SectorsMetaType, description: 'Metadata of the averages.', resolve: (page) => page.meta }),
  }),
});

builder.queryField('sectors', (t) =>
  t.field({
    type: SectorsPageType,
    nullable: true,
    description: 'Average change by sector in the latest session, over the registry.',
    args: { date: t.arg({ type: 'SessionDate', description: 'Echoed in meta, not applied.' }) },
    extensions: { scopeGroup: 'market.screener', ...costs({ once: 0.3 }) },
    resolve: (_root, { date }, context) => sectors(context, date ?? null),
  }),
);
