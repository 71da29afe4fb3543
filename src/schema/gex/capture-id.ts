import { readTicker } from '../../core/domain/market/ticker.ts';
import type { CapturePoint } from '../../resolvers/gex/capture-point.ts';
import { gexCaptureOf, type ServedGexCapture } from '../../resolvers/gex/gex.ts';
import { keyOfId, type NodeLookup } from '../node-id.ts';
import { capturePoints, strikeSizes } from './cost.ts';

/**
 * The key of a capture: its instant, and the kind of its rows. A client's cache therefore never merges a past answer
 * with a current one.
 */
export function captureKey({ underlying, capturedAt, isByExpiry, top }: ServedGexCapture): string {
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
export function captureLookup(key: string): NodeLookup | null {
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
