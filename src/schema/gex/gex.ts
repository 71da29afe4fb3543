import { type GexExpiry, gammaSources } from '../../domain/gex.ts';
import { exchangeTimeZone } from '../../domain/market-time.ts';
import { chainRowsAtStrike } from '../../resolvers/chain/chain.ts';
import { type GexStrike, gexCaptureAt, inShares, type ServedGexCapture, strikeRows } from '../../resolvers/gex/gex.ts';
import { type GexHistory, type GexHistoryMeta, gexHistory } from '../../resolvers/gex/history.ts';
import { type SessionStrikes, type SessionStrikesMeta, sessionStrikes } from '../../resolvers/gex/session-strikes.ts';
import { builder } from '../builder.ts';
import { ChainRowType } from '../chain/chain.ts';
import { costs } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { ResponseMetaInterface } from '../response-meta.ts';
import { captureCost, historyCost } from './cost.ts';

const usage = { extensions: { scopeGroup: 'analytics.gex' } };

/** A strike row; option flow adds its edge in its own file. */
export const GexStrikeType = builder.objectRef<GexStrike>('GexStrike').implement({
  description: 'Dealer gamma exposure at one strike: net over all expiries, or of one expiry.',
  fields: (t) => ({
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
    expiry: t.expose('expiry', {
      type: 'SessionDate',
      nullable: true,
      description: 'Expiry of the row; null on a net row.',
    }),
    gex: t.exposeFloat('gex', {
      description: 'Dollars of dealer hedging per $1 move: calls positive, puts negative.',
    }),
    gexShares: t.float({
      nullable: true,
      description: 'gex in shares per $1 move: divided by the spot, or the prior close; null when neither is known.',
      resolve: (row) => inShares(row.capture, row.gex),
    }),
    deltaAdj: t.exposeFloat('deltaAdj', {
      nullable: true,
      description: 'Delta-adjusted dollars per $1 move; null when not captured.',
    }),
    deltaAdjShares: t.float({
      nullable: true,
      description: 'deltaAdj in shares per $1 move; null when unknown.',
      resolve: (row) => inShares(row.capture, row.deltaAdj),
    }),
    callOi: t.exposeInt('callOi', {
      nullable: true,
      description: 'Open interest of calls, contracts; null when no call is listed.',
    }),
    putOi: t.exposeInt('putOi', {
      nullable: true,
      description: 'Open interest of puts, contracts; null when no put is listed.',
    }),
    gex0dte: t.exposeFloat('gex0dte', {
      nullable: true,
      description: "The part of gex that expires on the capture's session, dollars per $1 move; null when none does.",
    }),
    gex0dteShares: t.float({
      nullable: true,
      description: 'gex0dte in shares per $1 move; null when unknown.',
      resolve: (row) => inShares(row.capture, row.gex0dte),
    }),
    chain: t.field({
      type: [ChainRowType],
      extensions: { ...usage.extensions, ...costs({ once: 1, each: 0.03, rows: 'rowsOfStrike' }) },
      description: 'The chain rows behind this row: its strike, and its expiry unless it is a net row.',
      resolve: (row, _args, context) => chainRowsAtStrike(context, row),
    }),
  }),
});

const GexExpiryType = builder.objectRef<GexExpiry>('GexExpiry').implement({
  description: "One expiry's figures in a capture.",
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
    maxPain: t.expose('maxPain', {
      type: 'StrikeThousandths',
      nullable: true,
      description: 'Strike, thousandths, at which holders would receive least at expiry; null without open interest.',
    }),
    expectedMoveStraddle: t.exposeFloat('expectedMoveStraddle', {
      nullable: true,
      description: 'Price of the at-the-money straddle, dollars a share; null when a leg has no price.',
    }),
    expectedMoveSigma: t.exposeFloat('expectedMoveSigma', {
      nullable: true,
      description: 'One standard deviation of the price at expiry, S·σ·√T, dollars; null without a volatility.',
    }),
    atmIv: t.exposeFloat('atmIv', {
      nullable: true,
      description: 'Implied volatility at the money, an annualized fraction; null when not solved.',
    }),
  }),
});

const GammaSourceEnum = builder.enumType('GammaSource', {
  description: 'Where gammas came from: solved from prices here, or given by the vendor.',
  values: gammaSources,
});

export const GexCaptureType = builder.objectRef<ServedGexCapture>('GexCapture').implement({
  description: 'Dealer gamma exposure of an underlying at an instant.',
  fields: (t) => ({
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    capturedAt: t.expose('capturedAt', { type: 'EpochMs', description: 'When the chain was captured, epoch ms.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session of the capture.' }),
    spot: t.exposeFloat('spot', { nullable: true, description: "The underlying's price, dollars; null when unknown." }),
    priorCloseSpot: t.exposeFloat('priorCloseSpot', {
      nullable: true,
      description: "The underlying's close of the session before, dollars; null when unknown.",
    }),
    netGex: t.exposeFloat('netGex', {
      description: 'Sum of gex over the full curve, before any trim; dollars per $1 move.',
    }),
    netGexShares: t.float({
      nullable: true,
      description: 'netGex in shares per $1 move; null when no price is known.',
      resolve: (capture) => inShares(capture, capture.netGex),
    }),
    flipPoint: t.exposeFloat('flipPoint', {
      nullable: true,
      description: 'Price, dollars, at which the cumulative net curve crosses zero; null when it does not.',
    }),
    zeroGamma: t.exposeFloat('zeroGamma', {
      nullable: true,
      description: 'Price, dollars, at which re-priced net gamma changes sign; null when it does not near the spot.',
    }),
    callWall: t.expose('callWall', {
      type: 'StrikeThousandths',
      nullable: true,
      description: 'Strike, thousandths, of the largest call gex; null when there is none.',
    }),
    putWall: t.expose('putWall', {
      type: 'StrikeThousandths',
      nullable: true,
      description: 'Strike, thousandths, of the largest put gex by size; null when there is none.',
    }),
    netVanna: t.exposeFloat('netVanna', {
      nullable: true,
      description: 'Dollars of dealer delta per vol point (0.01 of volatility); null when not computed.',
    }),
    netCharm: t.exposeFloat('netCharm', {
      nullable: true,
      description: 'Dollars of dealer delta per day; null when not computed.',
    }),
    gammaSource: t.expose('gammaSource', { type: GammaSourceEnum, description: 'Where the gammas came from.' }),
    oiCoverage: t.exposeFloat('oiCoverage', {
      description: 'Share of open interest whose gamma was known, a fraction 0 to 1.',
    }),
    contractCount: t.exposeInt('contractCount', { description: 'Contracts that entered the sums.' }),
    gammaAbsent: t.exposeInt('gammaAbsent', {
      description: 'Contracts with open interest that were skipped for want of a gamma.',
    }),
    methodologyVersion: t.exposeString('methodologyVersion', {
      description: 'Version of the definitions the figures were computed by.',
    }),
    strikes: t.field({
      type: [GexStrikeType],
      extensions: costs({ rows: 'strikes' }),
      description: 'Rows ascending by strike (then expiry): net, or by expiry where that was asked for.',
      resolve: strikeRows,
    }),
    expiries: t.expose('expiries', {
      type: [GexExpiryType],
      extensions: costs({ rows: 'expiries' }),
      description: 'Figures by expiry, ascending.',
    }),
  }),
});

const GexHistoryMetaType = builder.objectRef<GexHistoryMeta>('GexHistoryMeta').implement({
  description: 'Metadata of a session of GEX captures.',
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    captureCount: t.exposeInt('captureCount', { description: 'Captures in the answer.' }),
    sessionOpen: t.exposeString('sessionOpen', {
      nullable: true,
      description: 'Open of the regular session, HH:MM New York; null on a date without trading.',
    }),
    sessionClose: t.exposeString('sessionClose', {
      nullable: true,
      description: 'Close of the regular session, HH:MM New York; null on a date without trading.',
    }),
    top: t.exposeInt('top', { nullable: true, description: 'Strikes a capture is cut to; null = no trim.' }),
    topDefaulted: t.exposeBoolean('topDefaulted', {
      nullable: true,
      description: 'True when top is the default of API keys; null otherwise.',
    }),
  }),
});

const GexHistoryType = builder.objectRef<GexHistory>('GexHistory').implement({
  description: 'GEX captures of one session.',
  fields: (t) => ({
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session.' }),
    captures: t.expose('captures', {
      type: [GexCaptureType],
      extensions: costs({ rows: 'captures' }),
      description: 'Captures, oldest first.',
    }),
    meta: t.expose('meta', { type: GexHistoryMetaType, description: 'Metadata of the answer.' }),
  }),
});

const SessionStrikesMetaType = builder.objectRef<SessionStrikesMeta>('SessionStrikesMeta').implement({
  description: "Metadata of the rows of a session's last capture.",
  interfaces: [ResponseMetaInterface],
  fields: (t) => ({
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    date: t.expose('date', { type: 'SessionDate', description: 'Exchange session.' }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the capture was taken, epoch ms; null when the session has none.',
    }),
    rowCount: t.exposeInt('rowCount', { description: 'Rows in the answer.' }),
  }),
});

const SessionStrikeInterface = builder.interfaceRef<GexStrike>('SessionStrike').implement({
  description: "A row of a session's last capture: net, or of one expiry.",
  resolveType: (row) => (row.expiry === null ? 'NetSessionStrike' : 'ExpirySessionStrike'),
  fields: (t) => ({
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
    gex: t.exposeFloat('gex', { description: 'Dollars of dealer hedging per $1 move: calls positive, puts negative.' }),
    deltaAdjGex: t.exposeFloat('deltaAdj', {
      nullable: true,
      description: 'Delta-adjusted dollars per $1 move; null when not captured.',
    }),
    callOi: t.exposeInt('callOi', {
      nullable: true,
      description: 'Open interest of calls, contracts; null when no call is listed.',
    }),
    putOi: t.exposeInt('putOi', {
      nullable: true,
      description: 'Open interest of puts, contracts; null when no put is listed.',
    }),
  }),
});

builder.objectRef<GexStrike>('NetSessionStrike').implement({
  description: 'A row over all expiries.',
  interfaces: [SessionStrikeInterface],
  fields: (t) => ({
    gex0dte: t.exposeFloat('gex0dte', {
      nullable: true,
      description: 'The part of gex that expires on the session, dollars per $1 move; null when none does.',
    }),
  }),
});

builder.objectRef<GexStrike>('ExpirySessionStrike').implement({
  description: 'A row of one expiry.',
  interfaces: [SessionStrikeInterface],
  fields: (t) => ({
    expiry: t.field({ type: 'SessionDate', description: 'Expiry of the row.', resolve: (row) => row.expiry! }),
  }),
});

const SessionStrikesType = builder.objectRef<SessionStrikes>('SessionStrikes').implement({
  description: "The rows of a session's last capture.",
  fields: (t) => ({
    rows: t.field({
      type: [SessionStrikeInterface],
      extensions: costs({ rows: 'strikesByExpiry' }),
      description: 'By strike and expiry where the capture holds such rows, else net.',
      resolve: ({ capture }) => (capture ? strikeRows(capture) : []),
    }),
    meta: t.expose('meta', { type: SessionStrikesMetaType, description: 'Metadata of the answer.' }),
  }),
});

/** Dealer gamma of one symbol: the ways to its captures. */
export const SymbolGexType = builder.objectRef<{ symbol: string }>('SymbolGex').implement({
  description: 'Dealer gamma exposure of a symbol.',
  fields: (t) => {
    const captureArgs = {
      topStrikes: t.arg.int({
        description: 'Keep the strikes with the largest |net gex|, so many; all by default. Totals are over all.',
      }),
      byExpiry: t.arg.boolean({ defaultValue: false, description: 'Rows by strike and expiry instead of net rows.' }),
    };
    return {
      latest: t.field({
        type: GexCaptureType,
        nullable: true,
        extensions: { ...usage.extensions, ...captureCost },
        description: 'The latest capture; null when there is none.',
        args: captureArgs,
        resolve: ({ symbol }, args, context) => gexCaptureAt(context, symbol, null, args),
      }),
      at: t.field({
        type: GexCaptureType,
        nullable: true,
        extensions: { ...usage.extensions, ...captureCost },
        description:
          'The last capture at or before a time, as it was; of a bare date, its last. Null when there is none.',
        args: {
          time: t.arg({ type: 'PointInTime', required: true, description: 'The time, or a date.' }),
          tz: t.arg({ type: 'TimeZone', defaultValue: exchangeTimeZone, description: 'Time zone of a local time.' }),
          ...captureArgs,
        },
        resolve: ({ symbol }, { time, ...args }, context) => gexCaptureAt(context, symbol, time, args),
      }),
      history: t.field({
        type: GexHistoryType,
        nullable: true,
        extensions: { ...usage.extensions, ...historyCost },
        description:
          'The captures of one session, oldest first; a new one lands every 5 minutes. Empty for a date without trading.',
        args: {
          date: t.arg({ type: 'SessionDate', required: true, description: 'Exchange session; not in the future.' }),
          from: t.arg({ type: 'ClockTime', description: 'Earliest capture, New York, inclusive; all by default.' }),
          to: t.arg({ type: 'ClockTime', description: 'End of the window, New York, exclusive; all by default.' }),
          byExpiry: captureArgs.byExpiry,
          top: t.arg.int({
            description:
              'Keep in each capture the strikes with the largest |net gex|, so many. By default all; 20 with an API key.',
          }),
        },
        resolve: ({ symbol }, args, context) => gexHistory(context, symbol, args),
      }),
      sessionStrikes: t.field({
        type: SessionStrikesType,
        nullable: true,
        extensions: { ...usage.extensions, ...costs({ once: 1.5, each: 0.1 }) },
        description: "The rows of a session's last capture, in the form of the deprecated route. Prefer at.",
        args: { date: t.arg({ type: 'SessionDate', required: true, description: 'Exchange session.' }) },
        resolve: ({ symbol }, { date }, context) => sessionStrikes(context, symbol, date),
      }),
    };
  },
});

builder.objectField(SymbolType, 'gex', (t) =>
  t.field({
    type: SymbolGexType,
    description: 'Dealer gamma exposure by strike.',
    resolve: ({ symbol }) => ({ symbol }),
  }),
);
