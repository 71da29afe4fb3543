import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import type { Failure } from '../../wire/failure.ts';
import { WrittenJson } from '../../wire/json-chunks.ts';

/** A success body (spec 1): the payload and what the answer says of itself. */
export interface Envelope {
  data: unknown;
  meta: Record<string, unknown>;
}

/** Keys of `meta` and of `caps` that are absent, never null, when they do not apply (contract-notes 1). */
export const absentInMeta = new Set([
  'cursor',
  'note',
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
]);
/** As `absentInMeta`, for `meta.caps`. */
export const absentInCaps = new Set(['darkpool', 'flow', 'gexDepth']);

function without(source: Record<string, unknown>, absent: Set<string>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key in source) if (source[key] !== null || !absent.has(key)) result[key] = source[key];
  return result;
}

/** @param data What is written already in it has been written without them. */
function pruned(data: unknown, absent: Set<string>): unknown {
  if (data instanceof WrittenJson) return data;
  if (Array.isArray(data)) return data.map((item) => pruned(item, absent));
  if (data === null || typeof data !== 'object') return data;
  const result = without(data as Record<string, unknown>, absent);
  for (const key in result) if (typeof result[key] === 'object') result[key] = pruned(result[key], absent);
  return result;
}

/** Rows pruned in one iteration of the event loop: about 2 ms of work. */
const rowsPerYield = 2000;

/** As `pruned`, but yields to the event loop within long lists of the answer. */
async function prunedYielding(data: unknown, absent: Set<string>): Promise<unknown> {
  if (data === null || typeof data !== 'object' || data instanceof WrittenJson) return data;
  if (!Array.isArray(data)) {
    const result = without(data as Record<string, unknown>, absent);
    for (const key in result) result[key] = await prunedYielding(result[key], absent);
    return result;
  }
  const rows: unknown[] = [];
  for (const row of data) {
    rows.push(pruned(row, absent));
    if (rows.length % rowsPerYield === 0) await yieldToEventLoop();
  }
  return rows;
}

/** An answer whose meta says so beside what its note says already; as it is for null. */
export function noted<T extends { meta: Record<string, unknown> }>(answer: T, note: string | null): T {
  if (note === null) return answer;
  const own = answer.meta.note;
  return { ...answer, meta: { ...answer.meta, note: typeof own === 'string' ? `${own} ${note}` : note } };
}

/** The envelope of an operation's answer; `absent` names the keys of `data` that are omitted instead of null. */
export async function envelope(
  answer: { data: unknown; meta: Record<string, unknown> },
  absent: readonly string[],
): Promise<Envelope> {
  const meta = without(answer.meta, absentInMeta);
  if (meta.caps) meta.caps = without(meta.caps as Record<string, unknown>, absentInCaps);
  return { data: absent.length > 0 ? await prunedYielding(answer.data, new Set(absent)) : answer.data, meta };
}

/** The body of a failure. */
export function errorEnvelope(failure: Failure): {
  error: { code: string; message: string; details?: Record<string, unknown> };
} {
  return {
    error: { code: failure.code, message: failure.message, ...(failure.details ? { details: failure.details } : {}) },
  };
}
