import { quoteColumns } from '../../core/domain/market/quote-columns.ts';
import {
  type AskedQuote,
  maxQuotes,
  type QuotesMeta,
  type QuotesPage,
  quotes,
  type Spot,
  spot,
  symbolQuote,
} from '../../resolvers/market/quotes.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { itemsAsked } from '../cost.ts';
import { metaOf } from '../meta-of.ts';
import { byTicker, node } from '../node.ts';
import { PlainMetaType } from '../response-meta.ts';
import { marketField } from './as-of.ts';
import { SymbolType } from './symbol.ts';

/** A quote, in pages and live. */
export const QuoteType = builder.objectRef<AskedQuote>('Quote').implement({
  description:
    "Latest price of a symbol: the current session's last price, else the last completed session's close. All fields but symbol are null if there was no price within 10 calendar days.",
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    asked: t.string({
      description: 'Requested name of the symbol: that of asked in Query.quotes, else the ticker.',
      resolve: ({ symbol, asked }) => asked ?? symbol,
    }),
    ...columnFields(t, quoteColumns),
    node: t.field({
      type: SymbolType,
      description: 'The symbol and its fields.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
  }),
});

const QuotesMetaType = metaOf<QuotesMeta>('QuotesMeta', 'market', 'Metadata of quotes.', (t) => ({
  count: t.exposeInt('count', { description: 'Number of rows.' }),
  restricted: t.expose('restricted', {
    size: { rows: 'page' },
    type: ['Ticker'],
    nullable: true,
    description:
      'Symbols the caller may not read, by their requested names; their rows are empty. Null if there are none.',
  }),
  note: t.exposeString('note', { nullable: true, description: 'The notes of the rows; null if there are none.' }),
}));

const QuotesPageType = builder.objectRef<QuotesPage>('Quotes').implement({
  description: 'Quotes of several symbols.',
  fields: (t) => ({
    rows: t.field({
      type: [QuoteType],
      size: { rows: 'page' },
      description: 'One row per requested symbol, in the order of the request, including repeats.',
      resolve: (page) => page.rows,
    }),
    meta: t.field({ type: QuotesMetaType, description: 'Metadata of the quotes.', resolve: (page) => page.meta }),
  }),
});

marketField('quotes', (t) =>
  t.field({
    type: QuotesPageType,
    nullable: true,
    description:
      'Quotes of several symbols. A symbol that is unknown, has no recent price or may not be read is an empty row, not an error.',
    args: {
      symbols: t.arg({ type: ['Ticker'], required: true, description: `Tickers in any case, at most ${maxQuotes}.` }),
      asked: t.arg.stringList({
        description:
          'Names to use for the symbols in rows { asked } and meta { restricted }, one per symbol. Default: the tickers.',
      }),
    },
    scope: 'market.live',
    price: {
      once: 3,
      each: ({ page }) => 0.15 * page,
      sizes: ({ symbols }) => ({ page: itemsAsked(symbols.length, maxQuotes) }),
    },
    resolve: (_root, { symbols, asked }, context) => quotes(context, symbols, asked ?? symbols),
  }),
);

/** Cost of a symbol's quote. */
const quoteCost = { once: 3, each: 0.12 };

node(QuoteType, ({ symbol }) => symbol, byTicker(symbolQuote, quoteCost.once + quoteCost.each), 'market.live');

builder.objectField(SymbolType, 'quote', (t) =>
  t.field({
    type: QuoteType,
    nullable: true,
    description: 'Latest quote. not_entitled_tier or attestation_required if the caller may not read it.',
    scope: 'market.live',
    price: quoteCost,
    resolve: ({ symbol }, _args, context) => symbolQuote(context, symbol),
  }),
);

const SpotType = builder.objectRef<Spot>('Spot').implement({
  description:
    "Close of a symbol's latest daily bar: the current session's bar in progress, else the last completed one.",
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker.' }),
    price: t.exposeFloat('price', {
      nullable: true,
      description: 'Dollars; null if there is no bar within the last 10 calendar days.',
    }),
    ts: t.expose('ts', {
      type: 'EpochMs',
      nullable: true,
      description: 'Start of the bar the price comes from, epoch ms; null if there is no recent bar.',
    }),
    meta: t.field({ type: PlainMetaType, description: 'Metadata of the answer.', resolve: ({ meta }) => meta }),
  }),
});

/** Cost of a symbol's spot. */
const spotCost = { once: 2.5, each: 0.07 };

node(SpotType, ({ symbol }) => symbol, byTicker(spot, spotCost.once + spotCost.each), 'market.live');

builder.objectField(SymbolType, 'spot', (t) =>
  t.field({
    type: SpotType,
    nullable: true,
    description: 'Spot price. Registered symbols only.',
    scope: 'market.live',
    price: spotCost,
    resolve: ({ symbol }, _args, context) => spot(context, symbol),
  }),
);
