import { roundTo } from '../../domain/units.ts';

/** A symbol, its sector and its change. */
export interface SectorMember {
  symbol: string;
  /** Null: unknown; counted under `other`. */
  sector: string | null;
  /** Percent; null = unknown. */
  changePct: number | null;
}

/** A sector's average (spec 4.13). */
export interface SectorAverage {
  sector: string;
  /** All its symbols, ascending. */
  symbols: string[];
  /** Unweighted mean over the symbols with a change, percent, 4 decimals; null if none has one. */
  avgChangePct: number | null;
  /** The symbols that contributed. */
  count: number;
}

/** The sector of symbols without one. */
export const otherSector = 'other';

/** Sectors ascending by name, `other` last. The order of members does not matter. */
export function sectorAverages(members: readonly SectorMember[]): SectorAverage[] {
  const bySector = new Map<string, SectorMember[]>();
  const ordered = [...members].sort((a, b) => (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : 0));
  for (const member of ordered) {
    const sector = member.sector ?? otherSector;
    const known = bySector.get(sector);
    if (known) known.push(member);
    else bySector.set(sector, [member]);
  }
  const names = [...bySector.keys()].sort();
  names.sort((a, b) => Number(a === otherSector) - Number(b === otherSector));
  return names.map((sector) => average(sector, bySector.get(sector)!));
}

function average(sector: string, members: readonly SectorMember[]): SectorAverage {
  let sum = 0;
  let count = 0;
  for (const { changePct } of members) {
    if (changePct === null) continue;
    sum += changePct;
    count++;
  }
  return {
    sector,
    symbols: members.map(({ symbol }) => symbol),
    avgChangePct: count === 0 ? null : roundTo(sum / count, 4),
    count,
  };
}
