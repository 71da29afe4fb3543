import { isStorableText, storableText } from '../runtime/storable-text.ts';
import { type Failure, invalidParameter } from './failure.ts';
import { type JsonSize, jsonSize, mostJsonValues } from './json-chunks.ts';
import { clipped } from './printed-value.ts';
import { deepestJson, jsonFault } from './stored-text.ts';

/** Throws 400 naming `parameter` for a text that the store cannot hold. */
export function requireStorable(text: string, parameter: string): void {
  if (!isStorableText(text)) throw invalidParameter(parameter, `expected ${storableText}`);
}

/**
 * Checks the texts and the nesting of a JSON value. Returns a 400 that names the first invalid field, null = none;
 * `whole` is the name of the value itself.
 */
export function jsonFailure(value: unknown, whole: string): Failure | null {
  const found = jsonFault(value);
  if (!found) return null;
  const [field = whole] = found.path;
  // A name that cannot be stored cannot be repeated either.
  const parameter = typeof field === 'string' && isStorableText(field) ? clipped(field, 100) : whole;
  return invalidParameter(
    parameter,
    found.fault === 'too-deep' ? `nested more than ${deepestJson} deep` : `expected ${storableText}`,
  );
}

/** Nesting levels of the messages around a value: a body, its operations, their variables. */
const envelopeLevels = 8;

/** The size of a JSON body. Throws 400 for one that is nested too deep, or has too many values. */
export function boundedJsonSize(
  bytes: Buffer,
  whole: string,
  mostDeep: number = deepestJson + envelopeLevels,
): JsonSize {
  const size = jsonSize(bytes, mostDeep);
  if (size === 'too-deep') throw invalidParameter(whole, `nested more than ${deepestJson} deep`);
  if (size === 'too-many-values')
    throw invalidParameter(whole, `has more than ${mostJsonValues.toLocaleString('en-US')} values`);
  return size;
}
