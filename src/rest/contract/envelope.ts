import type { Provenance } from '../../platform/config/config.ts';
import type { Failure } from '../../platform/wire/failure.ts';
import { flag } from './params.ts';

/** A success body (spec 1): the payload and its metadata. */
export interface Envelope {
  data: unknown;
  meta: Record<string, unknown>;
}

/** Keys of `meta` and of `caps` that are absent, never null, when they do not apply (contract-notes 1). */
export const absentInMeta = new Set([
  'cursor',
  'note',
  'provenance',
  'adjusted',
  'splits',
  'limit_clamped',
  'top_defaulted',
  'top',
  'restricted',
  'greeks_filled',
  'class',
  'dte',
  'dte_expiry',
  'expired_filtered',
  'filters',
  'disclosure_k',
  'errors_omitted',
  'source_time',
  'at',
  'at_effective',
  'basis',
  'known_at',
]);
/** Like `absentInMeta`, for `meta.caps`. */
export const absentInCaps = new Set(['darkpool', 'flow', 'gexDepth']);

function without(source: Record<string, unknown>, absent: Set<string>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key in source) if (source[key] !== null || !absent.has(key)) result[key] = source[key];
  return result;
}

/** An answer with `note` appended to the note in its meta; unchanged for null. */
export function noted<T extends { meta: Record<string, unknown> }>(answer: T, note: string | null): T {
  if (note === null) return answer;
  const own = answer.meta.note;
  return { ...answer, meta: { ...answer.meta, note: typeof own === 'string' ? `${own} ${note}` : note } };
}

/** Metadata of an answer of market data that was read at an instant, epoch ms. */
export const readAtKey = 'read_at_ms';

/** An answer whose meta has its read instant; as it is for null. */
export function instanted<T extends { meta: Record<string, unknown> }>(answer: T, readAtMs: number | null): T {
  return readAtMs === null ? answer : { ...answer, meta: { ...answer.meta, [readAtKey]: readAtMs } };
}

/** The envelope of an operation's answer. */
export function envelope(answer: { data: unknown; meta: Record<string, unknown> }): Envelope {
  const meta = without(answer.meta, absentInMeta);
  if (meta.caps) meta.caps = without(meta.caps as Record<string, unknown>, absentInCaps);
  return { data: answer.data, meta };
}

/** The body of a failure. */
export function errorEnvelope(failure: Failure): {
  error: { code: string; message: string; details?: Record<string, unknown> };
} {
  return {
    error: { code: failure.code, message: failure.message, ...(failure.details ? { details: failure.details } : {}) },
  };
}

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
