import type { Provenance } from '../../platform/config/provenance.ts';
import { flag } from './params.ts';

/** The parameter of routes whose operation asks for provenance: all of market data. */
export const provenanceParam = flag
  .meta({
    ...flag.meta(),
    description: 'True adds meta.provenance: files or live lines that the answer is from. JSON only. Default: false.',
  })
  .optional();

/**
 * The variable of a route's operation, and a note for an answer that says less than was asked for. Without an envelope
 * `meta` is a header, which the list would be too long for.
 */
export function askedProvenance(
  values: Readonly<Record<string, unknown>>,
  { setting, isJson }: { setting: Provenance; isJson: boolean },
): { provenance: boolean; note: string | null } {
  if (values.provenance !== true) return { provenance: false, note: null };
  if (setting === 'off') return { provenance: false, note: 'Provenance is not served here.' };
  return isJson ? { provenance: true, note: null } : { provenance: false, note: 'Provenance is sent as JSON only.' };
}
