import type { GammaProfile } from '../../src/core/analytics/gex/flip-point.ts';

/**
 * The zero crossing of a profile nearest to `spot`, dollars, on straight lines between its levels: as charts of a
 * profile show it.
 */
export function profileCrossing({ levels, gexPerPercent }: GammaProfile, spot: number): number {
  let nearest = Number.NaN;
  for (let i = 1; i < levels.length; i++) {
    const [before, after] = [gexPerPercent[i - 1]!, gexPerPercent[i]!];
    if (before > 0 === after > 0) continue;
    const crossing = levels[i - 1]! + ((levels[i]! - levels[i - 1]!) * before) / (before - after);
    if (!(Math.abs(crossing - spot) >= Math.abs(nearest - spot))) nearest = crossing;
  }
  return nearest;
}
