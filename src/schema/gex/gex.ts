import { flipStatusOf, gexCaptureAt } from '../../resolvers/gex/gex.ts';
import { sessionStrikes } from '../../resolvers/gex/grid.ts';
import { type GexHistory, type GexHistoryMeta, gexHistory } from '../../resolvers/gex/history.ts';
import { builder } from '../builder.ts';
import { zoneOf } from '../instant-args.ts';
import { SymbolType } from '../market/symbol.ts';
import { metaOf } from '../meta-of.ts';
import { byTicker, node } from '../node.ts';
import { FlipStatusEnum, GexCaptureType } from './capture.ts';
import { captureCost, historyCost } from './cost.ts';
import { SessionStrikesType } from './session-strikes.ts';

const GexHistoryMetaType = metaOf<GexHistoryMeta>(
  'GexHistoryMeta',
  'prices',
  'Metadata of a session of GEX captures.',
  (t) => ({
    flipStatus: t.field({
      type: [FlipStatusEnum],
      nullable: { list: false, items: true },
      scope: 'parent',
      price: { rows: 'captures' },
      description:
        'Reliability of the flip point of each capture; null if an older version stored it and its rows do not determine it.',
      resolve: ({ captures }, _args, context) => captures.map((capture) => flipStatusOf(context, capture)),
    }),
    captureCount: t.exposeInt('captureCount', { description: 'Number of captures in the answer.' }),
    sourceTime: t.expose('sourceTime', {
      type: ['EpochMs'],
      nullable: true,
      size: { rows: 'captures' },
      description:
        'Time of the quotes of each capture, epoch ms: its time less the delay of its source. Null if no source is delayed.',
    }),
    sessionOpen: t.exposeString('sessionOpen', {
      nullable: true,
      description: 'Open of the regular session, HH:MM New York; null if the date has no trading.',
    }),
    sessionClose: t.exposeString('sessionClose', {
      nullable: true,
      description: 'Close of the regular session, HH:MM New York; null if the date has no trading.',
    }),
    top: t.exposeInt('top', { nullable: true, description: 'Number of strikes kept per capture; null = all.' }),
    topDefaulted: t.exposeBoolean('topDefaulted', {
      nullable: true,
      description: 'True if top is the default for API keys; null otherwise.',
    }),
  }),
);

const GexHistoryType = builder.objectRef<GexHistory>('GexHistory').implement({
  description: 'GEX captures of one session.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session.' }),
    captures: t.expose('captures', {
      type: [GexCaptureType],
      size: { rows: 'captures' },
      description: 'Captures, oldest first.',
    }),
    meta: t.expose('meta', { type: GexHistoryMetaType, description: 'Metadata of the answer.' }),
  }),
});

const byExpiryArg = { defaultValue: false, description: 'Rows by strike and expiry instead of net rows.' } as const;

/** Dealer gamma of one symbol, with its captures. */
export const SymbolGexType = builder.objectRef<{ symbol: string }>('SymbolGex').implement({
  description: 'Dealer gamma exposure of a symbol.',
  fields: (t) => {
    const captureArgs = {
      topStrikes: t.arg.int({
        description: 'Keep the N strikes with the largest |net gex|. Default: all. Totals always include all strikes.',
      }),
      byExpiry: t.arg.boolean(byExpiryArg),
    };
    return {
      latest: t.field({
        type: GexCaptureType,
        nullable: true,
        scope: 'analytics.gex',
        price: captureCost,
        description: 'The latest capture; null if there is none.',
        args: captureArgs,
        resolve: ({ symbol }, args, context) => gexCaptureAt(context, symbol, null, args),
      }),
      at: t.field({
        type: GexCaptureType,
        nullable: true,
        scope: 'analytics.gex',
        price: captureCost,
        description:
          'The last capture at or before a time, as stored. For a bare date: the last capture of that date. Null if there is none.',
        args: {
          time: t.arg({ type: 'PointInTime', required: true, description: 'The time or date.' }),
          tz: t.arg(zoneOf('time, if it is a local time')),
          ...captureArgs,
        },
        resolve: ({ symbol }, { time, ...args }, context) => gexCaptureAt(context, symbol, time, args),
      }),
    };
  },
});

builder.objectFields(SymbolGexType, (t) => ({
  history: t.field({
    type: GexHistoryType,
    nullable: true,
    scope: 'analytics.gex',
    price: historyCost,
    description:
      'The captures of one session, oldest first. A new capture is added every 5 minutes. Empty for a date without trading.',
    args: {
      date: t.arg({ type: 'SessionDate', required: true, description: 'Exchange session; not in the future.' }),
      from: t.arg({
        type: 'ClockTime',
        description: 'Start of the window, New York, inclusive. Default: no bound.',
      }),
      to: t.arg({ type: 'ClockTime', description: 'End of the window, New York, exclusive. Default: no bound.' }),
      byExpiry: t.arg.boolean(byExpiryArg),
      top: t.arg.int({
        description: 'Keep the N strikes with the largest |net gex| in each capture. Default: all; 20 with an API key.',
      }),
    },
    resolve: ({ symbol }, args, context) => gexHistory(context, symbol, args),
  }),
  sessionStrikes: t.field({
    type: SessionStrikesType,
    nullable: true,
    price: { once: 1.5, each: 0.1 },
    scope: 'analytics.gex',
    description: "The rows of a session's last capture, in the format of the deprecated route. Use at instead.",
    args: { date: t.arg({ type: 'SessionDate', required: true, description: 'Exchange session.' }) },
    resolve: ({ symbol }, { date }, context) => sessionStrikes(context, symbol, date),
  }),
}));

node(
  SymbolGexType,
  ({ symbol }) => symbol,
  byTicker((_context, symbol) => ({ symbol })),
);

builder.objectField(SymbolType, 'gex', (t) =>
  t.field({
    type: SymbolGexType,
    description: 'Dealer gamma exposure by strike.',
    resolve: ({ symbol }) => ({ symbol }),
  }),
);
