import { deepestJson, isStorableText, jsonFault, storableText } from '../runtime/stored-text.ts';
import { type Failure, invalidParameter } from './failure.ts';

/** Throws 400 naming `parameter` for a text that the store could not hold as it is. */
export function requireStorable(text: string, parameter: string): void {
  if (!isStorableText(text)) throw invalidParameter(parameter, `expected ${storableText}`);
}

/**
 * What is wrong with the texts or the nesting of a JSON value, as a 400 that names its field; `whole` is the name of
 * the value itself.
 */
export function jsonFailure(value: unknown, whole: string): Failure | null {
  const found = jsonFault(value);
  if (!found) return null;
  const [field = whole] = found.path;
  // A name that cannot be stored cannot be repeated either.
  const parameter = typeof field === 'string' && isStorableText(field) ? field : whole;
  return invalidParameter(
    parameter,
    found.fault === 'too-deep' ? `nested more than ${deepestJson} deep` : `expected ${storableText}`,
  );
}
