import {
  type Comparison,
  type FigureColumn,
  type FigureName,
  figureColumns,
  figureNames,
  figureRestName,
  filterLimits,
  type ScreenFilter,
  type ScreenOrder,
} from '../../core/domain/screener.ts';
import {
  mostPastSymbols,
  type ScreenArgs,
  type ScreenMeta,
  type ScreenPage,
  type ScreenRow,
  screen,
  screenLimits,
  screenWork,
} from '../../resolvers/screener/screen.ts';
import { builder } from '../builder.ts';
import { itemsAsked } from '../cost.ts';
import { enumValues } from '../enum-values.ts';
import { marketField } from '../market/as-of.ts';
import { SymbolType } from '../market/symbol.ts';
import { metaOf } from '../meta-of.ts';

const columns: Readonly<Record<FigureName, FigureColumn>> = figureColumns;
const outputTypes = { float64: 'Float', int64: 'Long', text: 'String' } as const;
const isNullText = 'True: only symbols whose value is null. False: only those whose value is known.';

const NumberComparison = builder
  .inputRef<Omit<Comparison, 'eq' | 'in'> & { eq?: number | null; in?: number[] | null }>('NumberComparison')
  .implement({
    description: 'Conditions on a number, all of which must hold. An unknown number meets none of them but isNull.',
    fields: (t) => ({
      eq: t.float({ description: 'Equal to.' }),
      gt: t.float({ description: 'Greater than.' }),
      gte: t.float({ description: 'Greater than or equal to.' }),
      lt: t.float({ description: 'Less than.' }),
      lte: t.float({ description: 'Less than or equal to.' }),
      in: t.floatList({ description: 'Equal to one of these.' }),
      isNull: t.boolean({ description: isNullText }),
    }),
  });

const TextComparison = builder
  .inputRef<{ eq?: string | null; in?: string[] | null; isNull?: boolean | null }>('TextComparison')
  .implement({
    description:
      'Conditions on a text, in any case, all of which must hold. An unknown text meets none of them but isNull.',
    fields: (t) => ({
      eq: t.string({ description: 'Equal to.' }),
      in: t.stringList({ description: 'Equal to one of these.' }),
      isNull: t.boolean({ description: isNullText }),
    }),
  });

const comparisonOf = (name: FigureName) => (columns[name].type === 'text' ? TextComparison : NumberComparison);

/** A filter of symbols. */
export const ScreenInput = builder.inputRef<ScreenFilter>('ScreenInput');
ScreenInput.implement({
  description: `A filter of symbols: all of its conditions must hold. Nested at most ${filterLimits.depth} deep, with at most ${filterLimits.conditions} conditions and ${filterLimits.listed} values in lists.`,
  fields: (t) =>
    ({
      and: t.field({ type: [ScreenInput], description: 'Filters that must all hold.' }),
      or: t.field({ type: [ScreenInput], description: 'Filters of which one must hold.' }),
      not: t.field({
        type: ScreenInput,
        description: 'A filter that must not hold: the result is exactly the symbols that the filter alone excludes.',
      }),
      symbol: t.field({ type: TextComparison, description: 'Ticker.' }),
      ...Object.fromEntries(
        figureNames.map((name) => [
          name,
          t.field({ type: comparisonOf(name) as typeof TextComparison, description: columns[name].description }),
        ]),
      ),
    }) as never,
});

/** The figures that symbols are ordered by. */
export const ScreenFigureEnum = builder.enumType('ScreenFigure', {
  description: 'Figures that symbols can be ordered by, spelled as the fields of ScreenRow.',
  values: Object.fromEntries(figureNames.map((name) => [name, { description: columns[name].description }])),
});

/** The same figures by their names in REST. */
export const ScreenColumnEnum = builder.enumType('ScreenColumn', {
  description: 'The figures that symbols can be ordered by, as REST and tables name them.',
  values: Object.fromEntries(
    figureNames.map((name) => [figureRestName(name), { value: name, description: columns[name].description }]),
  ),
});

/** Directions of an order. */
export const SortDirectionEnum = builder.enumType('SortDirection', {
  description: 'Directions of an order. Unknown values come last in both.',
  values: enumValues<ScreenOrder['direction']>({ asc: 'Ascending.', desc: 'Descending.' }),
});

/** An order of symbols. */
export const ScreenOrderInput = builder.inputType('ScreenOrder', {
  description: 'An order of symbols. Unknown values come last, equal ones ascending by ticker.',
  fields: (t) => ({
    figure: t.field({ type: ScreenFigureEnum, required: true, description: 'Figure to order by.' }),
    direction: t.field({
      type: SortDirectionEnum,
      required: true,
      defaultValue: 'desc',
      description: 'Direction of the order.',
    }),
  }),
});

const ScreenRowType = builder.objectRef<ScreenRow>('ScreenRow').implement({
  description:
    'A symbol that matches, with its figures. A figure is null if it is unknown, if the caller may not read it, or if its source is not configured.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    ...Object.fromEntries(
      figureNames.map((name) => [
        name,
        t.field({
          type: columns[name].graph ?? (outputTypes[columns[name].type] as 'Float'),
          nullable: true,
          description: columns[name].description,
          resolve: (row) => row.figure(name) as number | null,
        }),
      ]),
    ),
    node: t.field({
      type: SymbolType,
      description: 'The symbol and its fields.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
  }),
});

const ScreenMetaType = metaOf<ScreenMeta>('ScreenMeta', 'registry', 'Metadata of a screen.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of symbols on this page.' }),
  totalCount: t.exposeInt('totalCount', { description: 'Number of symbols that match, over all pages.' }),
  cursor: t.exposeString('cursor', {
    nullable: true,
    description: 'Cursor of the next page; null on the last page.',
  }),
  restricted: t.field({
    type: [ScreenFigureEnum],
    nullable: true,
    size: { rows: 6 },
    description: 'Figures that the caller may not read, null in every row; null if there are none.',
    resolve: ({ restricted }) => restricted as never,
  }),
  restrictedColumns: t.field({
    type: [ScreenColumnEnum],
    nullable: true,
    size: { rows: 6 },
    description: 'Figures that the caller may not read, null in every row, as REST and tables name them.',
    resolve: ({ restricted }) => restricted as never,
  }),
}));

/** A page of symbols that match. */
export const ScreenPageType = builder.objectRef<ScreenPage>('Screen').implement({
  description: 'Symbols that match a filter.',
  fields: (t) => ({
    rows: t.field({
      type: [ScreenRowType],
      size: { rows: 'page', item: 0.1 },
      description: 'Symbols in the requested order.',
      resolve: ({ rows }) => rows,
    }),
    meta: t.field({ type: ScreenMetaType, description: 'Metadata of the page.', resolve: ({ meta }) => meta }),
  }),
});

marketField('screener', (t) =>
  t.field({
    type: ScreenPageType,
    nullable: true,
    description: `Registered symbols that the caller may read and that match a filter by their latest figures, a page at a time. A condition or an order on figures that the caller may not read is not_entitled_tier or attestation_required. As of an instant at most ${mostPastSymbols} symbols are screened: add a condition on symbol, sector or class to a larger registry.`,
    args: {
      where: t.arg({ type: ScreenInput, required: true, description: 'The filter; {} = all symbols.' }),
      orderBy: t.arg({ type: ScreenOrderInput, description: 'The order. Default: ascending by ticker.' }),
      first: t.arg.int({
        defaultValue: screenLimits.default,
        description: `Number of symbols per page, 1 or more. A value over ${screenLimits.max} is clamped and reported.`,
      }),
      after: t.arg.string({
        description: 'meta.cursor of the previous page. Leave the other arguments unchanged.',
      }),
    },
    scope: 'market.screener',
    price: {
      once: 2,
      each: ({ conditions, pastPoints, past = 0 }) => 0.05 * conditions + past * pastPoints,
      sizes: (args) => ({
        page: itemsAsked(args.first, screenLimits.max, screenLimits.default),
        ...screenWork(args as ScreenArgs),
      }),
    },
    resolve: (_root, args, context) => screen(context, args as ScreenArgs),
  }),
);
