import { type ConcentrationRow, disclosureSessions, type ProfileRow } from '../../domain/offexchange/off-exchange.ts';
import { tapeSettings } from '../methodology.ts';

const micros = 1_000_000;

/**
 * Bucket width in micro-dollars for a reference price in dollars: the largest of 1, 2.5, 5 times a power of ten within
 * 0.05 % of it, at least a cent.
 */
export function bucketWidthMicros(referencePrice: number): number {
  const limit = referencePrice * (tapeSettings.bucketWidthShare * micros);
  let width = tapeSettings.minimumBucketWidthUsd * micros;
  for (let power = 1; power <= limit; power *= 10) {
    for (const factor of [1, 2.5, 5]) if (factor * power <= limit && factor * power > width) width = factor * power;
  }
  return width;
}

interface Bucket {
  index: number;
  volume: number;
  notional: number;
  tradeCount: number;
  sessions: number;
}

function bucketsOf(sessions: readonly (readonly Omit<ProfileRow, 'date'>[])[], widthMicros: number): Bucket[] {
  const buckets = new Map<number, Bucket>();
  for (const levels of sessions) {
    const met = new Set<Bucket>();
    for (const { priceThousandths, volume, notional, tradeCount } of levels) {
      const index = Math.floor((priceThousandths * 1000) / widthMicros);
      const bucket = buckets.get(index) ?? { index, volume: 0, notional: 0, tradeCount: 0, sessions: 0 };
      buckets.set(index, bucket);
      bucket.volume += volume;
      bucket.notional += notional;
      bucket.tradeCount += tradeCount;
      met.add(bucket);
    }
    for (const bucket of met) bucket.sessions++;
  }
  return [...buckets.values()].sort((a, b) => a.index - b.index);
}

/**
 * Prices with the most off-exchange trading (methodology 6). `sessions`: the published price levels of the window's
 * sessions, oldest first, empty for those without any; the last 20 count. Nothing else may enter: two windows can be
 * subtracted from each other. `referencePrice`: the last session's off-exchange vwap, dollars; null (nothing of it may
 * be published): no rows.
 */
export function concentrationOf(
  sessions: readonly (readonly Omit<ProfileRow, 'date'>[])[],
  referencePrice: number | null,
): { rows: Omit<ConcentrationRow, 'date'>[]; suppressedBuckets: number } {
  if (referencePrice === null || !(referencePrice > 0)) return { rows: [], suppressedBuckets: 0 };
  const lookbackSessions = tapeSettings.concentrationSessions;
  const widthMicros = bucketWidthMicros(referencePrice);
  const buckets = bucketsOf(sessions.slice(-lookbackSessions), widthMicros);
  const published = buckets.filter(({ sessions }) => sessions >= disclosureSessions);
  const notional = published.reduce((sum, bucket) => sum + bucket.notional, 0);
  const rows = published.map((bucket) => {
    const bucketMidpoint = ((bucket.index + 0.5) * widthMicros) / micros;
    return {
      bucketMidpoint,
      bucketWidth: widthMicros / micros,
      volume: bucket.volume,
      notional: bucket.notional,
      tradeCount: bucket.tradeCount,
      distinctSessions: bucket.sessions,
      rankScore: notional > 0 ? (100 * (bucket.notional / notional) * bucket.sessions) / lookbackSessions : 0,
      rank: 0,
      bucketCount: published.length,
      distanceBps: (10_000 * (bucketMidpoint - referencePrice)) / referencePrice,
      lookbackSessions,
    };
  });
  rows.sort((a, b) => b.rankScore - a.rankScore || b.notional - a.notional || a.bucketMidpoint - b.bucketMidpoint);
  for (const [i, row] of rows.entries()) row.rank = i + 1;
  return { rows, suppressedBuckets: buckets.length - published.length };
}
