import { symbolAccess } from '../../access/entitlement/entitlement.ts';
import type { RowOf } from '../../core/domain/columns.ts';
import type { Quote } from '../../core/domain/market/quote.ts';
import type { moverColumns } from '../../core/domain/market/quote-columns.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import type { RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';
import { priceSource, sourcesOfRows } from '../source-keys.ts';
import { notesOf } from './quotes.ts';
import { registryQuotes } from './registry-quotes.ts';

/** Number of movers in an answer: the default and the maximum (contract-notes 3). */
export const moverLimits = { default: 25, max: 180 };

/** The symbols that movers are selected from. */
export const moverUniverses = ['registry'] as const;
export type MoverUniverse = (typeof moverUniverses)[number];

/** A symbol that moved. */
export interface Mover extends RowOf<typeof moverColumns> {
  symbol: string;
}

export interface MoversMeta extends ResponseMeta {
  count: number;
  /** Epoch ms. */
  computedAt: number;
  universe: MoverUniverse;
  /** Doubts about changes; null = none. */
  note: string | null;
}

export interface MoversPage {
  rows: Mover[];
  meta: MoversMeta;
}

function mover({ symbol, spot, changePct, volume, officialClose, note }: Quote): Mover | null {
  if (spot === null || changePct === null || officialClose === null) return null;
  return { symbol, spot, changePct, volume, officialClose, note };
}

/**
 * The symbols that changed most against their prior close, up or down, largest first, of equals by ticker. Only those
 * with a known change, and only those the caller may read: a row contains a price.
 */
export async function movers(
  context: RequestContext,
  { limit, universe }: { limit?: number | null | undefined; universe?: MoverUniverse | null | undefined },
): Promise<MoversPage> {
  if (limit != null && limit < 1) throw invalidParameter('limit', 'expected 1 or more');
  const clamped = (limit ?? 0) > moverLimits.max;
  const { atMs, byChange } = await registryQuotes(context);
  const most = Math.min(limit ?? moverLimits.default, moverLimits.max);
  const [rows, shown]: [Mover[], Quote[]] = [[], []];
  for (const { entry, quote } of byChange) {
    if (rows.length === most) break;
    const row = symbolAccess(context.caller, entry).allowed ? mover(quote) : null;
    if (!row) continue;
    rows.push(row);
    shown.push(quote);
  }
  return {
    rows,
    meta: {
      ...responseMeta(context, 'live', clamped ? ['limit_clamped'] : [], () => sourcesOfRows(shown, priceSource)),
      count: rows.length,
      computedAt: atMs,
      universe: universe ?? 'registry',
      note: notesOf(rows),
    },
  };
}
