import type { GexColumns } from '../domain/gex.ts';

/**
 * The `top` strikes with the largest |gex|, from net rows; null when there are no more than that. Of equals the lower strikes
 * stay. The measure is a strike's net figure, also where its rows by expiry are served: the same strikes stay either way.
 */
export function topStrikes(net: GexColumns, top: number): Set<number> | null {
  const count = net.strike.length;
  if (count <= top) return null;
  const sizes = net.gex.map(Math.abs);
  const least = sizes.toSorted()[count - top]!;
  const kept = new Set<number>();
  let places = top - sizes.reduce((above, size) => above + (size > least ? 1 : 0), 0);
  for (let i = 0; i < count; i++) {
    if (sizes[i]! > least || (sizes[i] === least && places-- > 0)) kept.add(net.strike[i]!);
  }
  return kept;
}
