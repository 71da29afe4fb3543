import { symbolAccess } from '../../access/entitlement/entitlement.ts';
import { type SectorAverage, sectorAverages } from '../../core/analytics/screener/sectors.ts';
import type { SymbolEntry } from '../../core/domain/market/symbol.ts';
import type { SessionDate } from '../../core/domain/market-time.ts';
import type { RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { priceSource, sourcesOfRows } from '../source-keys.ts';
import { registryQuotes } from './registry-quotes.ts';

export type { SectorAverage };

export interface SectorsMeta extends ResponseMeta {
  count: number;
  /** Epoch ms. */
  computedAt: number;
  /** As sent; ignored. */
  date: SessionDate | null;
  note: string;
}

export interface SectorsPage {
  rows: SectorAverage[];
  meta: SectorsMeta;
}

const note =
  'Preliminary: rows are for the latest session, regardless of the date parameter. Symbols that the sector map does not cover are listed under other.';

/** Index symbols are never shown to keys, and to sessions only if they may read them. */
function shows({ caller }: RequestContext, entry: SymbolEntry): boolean {
  return entry.class !== 'index' || (caller.kind === 'session' && symbolAccess(caller, entry).allowed);
}

/** Every sector's average change in the latest session, ascending by sector, `other` last. */
export async function sectors(context: RequestContext, date: SessionDate | null): Promise<SectorsPage> {
  const { atMs, quoted } = await registryQuotes(context);
  const members = quoted.filter(({ entry }) => shows(context, entry));
  const rows = sectorAverages(
    members.map(({ entry: { symbol, sector }, quote: { changePct } }) => ({ symbol, sector, changePct })),
  );
  const sources = () =>
    sourcesOfRows(
      members.map(({ quote }) => quote),
      priceSource,
    );
  return {
    rows,
    meta: { ...responseMeta(context, 'live', [], sources), count: rows.length, computedAt: atMs, date, note },
  };
}
