import { builder } from './builder.ts';

/** A ticker as a node of the graph; facts about it are looked up where they are asked for. */
export interface SymbolNode {
  symbol: string;
}

/** `Symbol`, the centre of the graph. Other nouns add their edges in their own files. */
export const SymbolType = builder.objectRef<SymbolNode>('Symbol').implement({
  description:
    'A ticker. Registry facts are errors of code not_found for a ticker outside the registry; market data has its own rules per field.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker, uppercase.' }),
  }),
});

builder.queryField('symbol', (t) =>
  t.field({
    type: SymbolType,
    description: 'A ticker and everything known of it.',
    args: { symbol: t.arg({ type: 'Ticker', required: true, description: 'Ticker, in any case.' }) },
    resolve: (_root, { symbol }) => ({ symbol }),
  }),
);
