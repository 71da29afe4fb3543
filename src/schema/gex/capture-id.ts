import { readTicker } from '../../domain/market/ticker.ts';
import { gexCaptureOf, type ServedGexCapture } from '../../resolvers/gex/gex.ts';
import type { NodeLookup } from '../node-id.ts';
import { capturePoints, strikeSizes } from './cost.ts';

/**
 * The key of a capture: its instant, and what its rows are. So an answer of the past is never merged into one of now.
 */
export function captureKey({ underlying, capturedAt, isByExpiry, top }: ServedGexCapture): string {
  return `${underlying}:${capturedAt}:${isByExpiry ? 'expiry' : 'net'}:${top ?? 'all'}`;
}

const keyPattern = /^([^:]+):(0|[1-9]\d{0,14}):(net|expiry):(all|[1-9]\d{0,9})$/;

/** Look-up of the capture of a key; null for a text that is no key. */
export function captureLookup(key: string): NodeLookup | null {
  const [, symbol = '', capturedAt, rows, topText] = keyPattern.exec(key) ?? [];
  if (readTicker(symbol) !== symbol) return null;
  const byExpiry = rows === 'expiry';
  const top = topText === 'all' ? null : Number(topText);
  return {
    points: capturePoints.once + capturePoints.each,
    sizes: strikeSizes(top, byExpiry),
    read: (context) => gexCaptureOf(context, symbol, Number(capturedAt), { byExpiry, topStrikes: top }),
  };
}
