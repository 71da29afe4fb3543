/** Maximum number of characters of a value that an error repeats. */
const shownCharacters = 200;

/** A text cut to `most` characters, with an ellipsis. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Appends the JSON of a value to `text`, until that is long enough. */
function written(text: string, value: unknown): string {
  if (text.length > shownCharacters) return text;
  if (typeof value === 'string') return text + JSON.stringify(value.slice(0, shownCharacters));
  if (typeof value !== 'object' || value === null) return text + String(value);
  let out = text + (Array.isArray(value) ? '[' : '{');
  let before = '';
  // Not Object.entries, which would read values that are not shown.
  for (const key in value) {
    if (out.length > shownCharacters) return out;
    const name = Array.isArray(value) ? '' : `${JSON.stringify(key.slice(0, shownCharacters))}: `;
    out = written(out + before + name, (value as Record<string, unknown>)[key]);
    before = ', ';
  }
  return out + (Array.isArray(value) ? ']' : '}');
}

/** The beginning of a value's JSON, for an error about that value. */
export function shownValue(value: unknown): string {
  return clipped(written('', value), shownCharacters);
}

/** A number as text. Whole numbers have digits only; `String` writes those from 1e21 on with an exponent. */
export const numberText = (value: number): string => (Number.isInteger(value) ? String(BigInt(value)) : String(value));
