import { minuteMs } from '../../platform/runtime/clock.ts';
import { whenThere } from '../../platform/runtime/maybe-promise.ts';
import { underlyingOf } from '../../resolvers/context.ts';
import {
  barsAround,
  contextSeconds,
  contractBarsAround,
  greeksAround,
  type PrintContext,
  printContext,
} from '../../resolvers/flow/print-context.ts';
import { builder } from '../builder.ts';
import { OptionContractType } from '../chain/contract.ts';
import { GreeksSampleType } from '../chain/greeks.ts';
import { OptionBarType } from '../chain/option-bars.ts';
import { StockBarsPageType } from '../market/stock-bars.ts';
import { SymbolType } from '../market/symbol.ts';
import { RankedPrintType } from './eod-prints.ts';
import { FlowEventType, FlowLegType } from './large-trades.ts';

/** Most minutes of a window, both ends included. */
const mostMinutes = (2 * contextSeconds.most * 1000) / minuteMs + 1;

const PrintContextType = builder.objectRef<PrintContext>('PrintContext').implement({
  description:
    'The market around a print. symbol and contract have all their fields, as of the print: nothing later is read. Bars and solves reach to the end of the window.',
  fields: (t) => ({
    at: t.expose('atMs', { type: 'EpochMs', description: 'Time of the print, epoch ms.' }),
    from: t.expose('fromMs', { type: 'EpochMs', description: 'Start of the window, inclusive, epoch ms.' }),
    to: t.expose('toMs', {
      type: 'EpochMs',
      description: 'End of the window, exclusive, epoch ms; never later than now.',
    }),
    symbol: t.field({
      type: SymbolType,
      description: 'The underlying at the print.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
    contract: t.expose('contract', {
      type: OptionContractType,
      nullable: true,
      description: 'The contract at the print; null for an event, whose legs have their own.',
    }),
    bars: t.field({
      type: StockBarsPageType,
      nullable: true,
      description: "The underlying's bars that start in the window, the last one as of the end of the window.",
      args: { timeframe: t.arg({ type: 'Timeframe', defaultValue: '1m', description: 'Length of a bar.' }) },
      scope: 'market.bars',
      price: {
        once: 1.2,
        each: ({ page }) => 0.1 + 0.0002 * page,
        sizes: ({ timeframe }) => ({ page: timeframe === '1s' ? 60 * mostMinutes : mostMinutes }),
      },
      resolve: (around, { timeframe }) => barsAround(around, timeframe ?? '1m'),
    }),
    contractBars: t.field({
      type: [OptionBarType],
      nullable: true,
      description: 'Minute bars of the contract in the window, from the minute in which it begins; empty for an event.',
      scope: 'market.bars',
      price: { once: 1.2, each: 0.1, rows: mostMinutes },
      resolve: (around) => contractBarsAround(around),
    }),
    greeks: t.field({
      type: [GreeksSampleType],
      nullable: true,
      description: 'Solves of the contract in the window, ascending; empty for an event.',
      // Read with the whole series of a contract.
      scope: 'analytics.vol',
      price: { once: 11, each: 4.25, rows: mostMinutes },
      resolve: (around) => greeksAround(around),
    }),
  }),
});

const contextArgs = builder.args((arg) => ({
  before: arg.int({
    defaultValue: contextSeconds.usual,
    description: `Seconds before. Default ${contextSeconds.usual}, at most ${contextSeconds.most}.`,
  }),
  after: arg.int({
    defaultValue: contextSeconds.usual,
    description: `Seconds after. Default ${contextSeconds.usual}, at most ${contextSeconds.most}.`,
  }),
}));

const served = {
  type: PrintContextType,
  args: contextArgs,
  price: { each: 0.05 },
  extensions: { contextBelow: ({ context }: PrintContext) => context },
} as const;

interface ContextArgs {
  before?: number | null | undefined;
  after?: number | null | undefined;
}

const windowOf = ({ before, after }: ContextArgs) => ({
  before: before ?? contextSeconds.usual,
  after: after ?? contextSeconds.usual,
});

builder.objectField(FlowEventType, 'context', (t) =>
  t.field({
    ...served,
    scope: 'parent',
    description: 'The market around the first leg.',
    resolve: ({ eventTsMs: atMs, underlying: symbol }, args, context) =>
      printContext(context, { atMs, symbol, contract: null }, windowOf(args)),
  }),
);

builder.objectField(FlowLegType, 'context', (t) =>
  t.field({
    ...served,
    scope: 'parent',
    description: 'The market around the print.',
    resolve: ({ eventTsMs: atMs, contract }, args, context) =>
      whenThere(underlyingOf(context, contract), (symbol) =>
        printContext(context, { atMs, symbol, contract }, windowOf(args)),
      ),
  }),
);

builder.objectField(RankedPrintType, 'context', (t) =>
  t.field({
    ...served,
    scope: 'parent',
    description: 'The market around the print.',
    resolve: ({ eventTsMs: atMs, underlying: symbol, contract }, args, context) =>
      printContext(context, { atMs, symbol, contract }, windowOf(args)),
  }),
);
