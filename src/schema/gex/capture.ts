import type { FlipStatus, GammaSource, GexExpiry, GexProfilePoint } from '../../core/domain/gex/gex.ts';
import { captureColumns, expiryColumns, profileColumns, strikeColumns } from '../../core/domain/gex/gex-columns.ts';
import { readTicker } from '../../core/domain/market/ticker.ts';
import { chainRowsAtStrike } from '../../resolvers/chain/chain.ts';
import type { CapturePoint } from '../../resolvers/gex/capture-point.ts';
import {
  flipIsRemote,
  flipStatusOf,
  type GexStrike,
  gexCaptureOf,
  inShares,
  priorCloseOf,
  type ServedGexCapture,
  strikeRows,
} from '../../resolvers/gex/gex.ts';
import { builder } from '../builder.ts';
import { ChainRowType } from '../chain/chain.ts';
import { columnFields } from '../column-fields.ts';
import { enumValues } from '../enum-values.ts';
import { node } from '../node.ts';
import { keyOfId, type NodeLookup } from '../node-id.ts';
import { QuoteTimeInterface } from '../quote-time.ts';
import { capturePoints, strikeSizes } from './cost.ts';

/**
 * The key of a capture: its instant, and the kind of its rows. A client's cache therefore never merges a past answer
 * with a current one.
 */
function captureKey({ underlying, capturedAt, isByExpiry, top }: ServedGexCapture): string {
  return `${underlying}:${capturedAt}:${isByExpiry ? 'expiry' : 'net'}:${top ?? 'all'}`;
}

const keyPattern = /^([^:]+):(0|[1-9]\d{0,14}):(net|expiry):(all|[1-9]\d{0,9})$/;

interface CaptureKey {
  symbol: string;
  capturedAt: number;
  rows: string;
  topText: string;
}

/** The parts of a capture's key; null for a text that is no key. */
function parseKey(key: string): CaptureKey | null {
  const [, symbol = '', capturedAt, rows = '', topText = ''] = keyPattern.exec(key) ?? [];
  return readTicker(symbol) === symbol ? { symbol, capturedAt: Number(capturedAt), rows, topText } : null;
}

/** The capture that a text names: by an id of any form of its rows, else by a time. */
export function capturePoint(text: string): CapturePoint {
  const key = keyOfId('GexCapture', text);
  const parsed = key === null ? null : parseKey(key);
  return parsed ? { underlying: parsed.symbol, capturedAt: parsed.capturedAt } : { time: text };
}

/** Look-up of the capture of a key; null for a text that is no key. */
function captureLookup(key: string): NodeLookup | null {
  const parsed = parseKey(key);
  if (parsed === null) return null;
  const { symbol, capturedAt, rows, topText } = parsed;
  const byExpiry = rows === 'expiry';
  const top = topText === 'all' ? null : Number(topText);
  return {
    points: capturePoints.once + capturePoints.each,
    sizes: strikeSizes(top, byExpiry),
    read: (context) => gexCaptureOf(context, symbol, capturedAt, { byExpiry, topStrikes: top }),
  };
}

/** Statuses of a flip point. */
export const FlipStatusEnum = builder.enumType('FlipStatus', {
  description: 'Reliability of a flip point. The first value that holds applies.',
  values: enumValues<FlipStatus>({
    no_strikes: 'There are no strikes, so there is no flip point.',
    no_crossing: 'The cumulative net gex curve does not cross zero, so there is no flip point.',
    partial: 'The chain is known to lack contracts. Zero gamma is more reliable.',
    remote: 'The flip point is more than 20% from the spot. Zero gamma is more reliable.',
    fragile:
      '|net gex| is less than 1% of the sum of |gex| over contracts, so a small change moves the flip point far. Zero gamma is more reliable.',
    crosses: 'The curve crosses zero at the flip point.',
  }),
});

/** Description of a flip point's status, for fields that may return captures of older versions. */
export const flipStatusText =
  'Reliability of the flip point. Null if an older version stored the capture and its rows do not determine it, or if there is no capture.';

/** A strike row; option flow adds its edge in its own file. */
export const GexStrikeType = builder.objectRef<GexStrike>('GexStrike').implement({
  description: 'Dealer gamma exposure at one strike: net over all expiries, or for one expiry.',
  fields: (t) => ({
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
    expiry: t.expose('expiry', {
      type: 'SessionDate',
      nullable: true,
      description: 'Expiry of the row; null for a net row.',
    }),
    ...columnFields(t, strikeColumns),
    gexShares: t.float({
      nullable: true,
      description:
        'gex in shares per $1 move: gex divided by the spot, else by the prior close. Null if neither is known.',
      resolve: (row) => inShares(row.capture, row.gex),
    }),
    deltaAdjShares: t.float({
      nullable: true,
      description: 'deltaAdj in shares per $1 move; null when unknown.',
      resolve: (row) => inShares(row.capture, row.deltaAdj),
    }),
    gex0dteShares: t.float({
      nullable: true,
      description: 'gex0dte in shares per $1 move; null when unknown.',
      resolve: (row) => inShares(row.capture, row.gex0dte),
    }),
    chain: t.field({
      type: [ChainRowType],
      price: { once: 1, each: 0.03, rows: 'rowsOfStrike' },
      scope: 'analytics.gex',
      description: 'The chain rows behind this row: those at its strike and, unless it is a net row, its expiry.',
      resolve: (row, _args, context) => chainRowsAtStrike(context, row),
    }),
  }),
});

const GexExpiryType = builder.objectRef<GexExpiry>('GexExpiry').implement({
  description: "One expiry's figures in a capture.",
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
    ...columnFields(t, expiryColumns),
    inconsistent: t.exposeBoolean('inconsistent', {
      description:
        'True if the expiry is within 30 days and its moveRatio is outside 0.95 to 1.05 by more than the half-spreads explain. False without a check: moveRatio is then null.',
    }),
  }),
});

const GammaSourceEnum = builder.enumType('GammaSource', {
  description: 'Source of the gammas: solved from prices by the service, or given by the vendor.',
  values: enumValues<GammaSource>({
    solve: 'Solved from option prices by the service.',
    vendor: "The source's own gammas.",
  }),
});

const GexProfilePointType = builder.objectRef<GexProfilePoint>('GexProfilePoint').implement({
  description: 'Net gamma exposure at one price of the underlying.',
  fields: (t) => columnFields(t, profileColumns),
});

// The prior close is served in shares of the capture's session.
const { priorCloseSpot, ...numbers } = captureColumns;

export const GexCaptureType = builder.objectRef<ServedGexCapture>('GexCapture').implement({
  description: 'Dealer gamma exposure of an underlying at one point in time.',
  interfaces: [QuoteTimeInterface],
  fields: (t) => ({
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    capturedAt: t.expose('capturedAt', { type: 'EpochMs', description: 'When the chain was captured, epoch ms.' }),
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session of the capture.' }),
    ...columnFields(t, numbers),
    priorCloseSpot: t.float({
      nullable: true,
      description: priorCloseSpot.description,
      scope: 'parent',
      price: { once: 0.2, each: 0.005 },
      resolve: (capture, _args, context) => priorCloseOf(context, capture),
    }),
    spotStale: t.exposeBoolean('spotStale', {
      nullable: true,
      description:
        'True if spot and quotes are not of one instant: options are then priced with impliedSpot. Null if the quotes imply no spot, or if an older version stored the capture.',
    }),
    netGexShares: t.float({
      nullable: true,
      description: 'netGex in shares per $1 move; null if no price is known.',
      resolve: (capture) => inShares(capture, capture.netGex),
    }),
    flipStatus: t.field({
      type: FlipStatusEnum,
      nullable: true,
      description:
        'Reliability of flipPoint. Null if an older version stored the capture and its rows do not determine it. If it is partial, remote or fragile, show zeroGamma first.',
      scope: 'parent',
      price: { once: 0.2, each: 0.005 },
      resolve: (capture, _args, context) => flipStatusOf(context, capture),
    }),
    flipIsRemote: t.boolean({
      nullable: true,
      deprecationReason: 'Use flipStatus, which says more.',
      description:
        'True if flipPoint is more than 20% from the spot: zeroGamma is then more reliable. Null without a flip point.',
      resolve: flipIsRemote,
    }),
    gammaSource: t.expose('gammaSource', { type: GammaSourceEnum, description: 'Source of the gammas.' }),
    methodologyVersion: t.exposeString('methodologyVersion', {
      description: 'Version of the definitions used to compute the figures.',
    }),
    strikes: t.field({
      type: [GexStrikeType],
      size: { rows: 'strikes' },
      description: 'Rows ascending by strike: one net row per strike, or one row per strike and expiry with byExpiry.',
      resolve: (capture) => strikeRows(capture),
    }),
    profile: t.expose('profile', {
      type: [GexProfilePointType],
      nullable: true,
      size: { rows: 60 },
      description:
        'Net gamma exposure at other prices of the underlying, with volatilities held fixed: 60 prices from 0.8 to 1.2 of the spot, ascending. Null if an older version stored the capture.',
    }),
    expiries: t.expose('expiries', {
      type: [GexExpiryType],
      size: { rows: 'expiries' },
      description: 'Figures per expiry, ascending.',
    }),
  }),
});

node(GexCaptureType, captureKey, captureLookup, 'analytics.gex');
