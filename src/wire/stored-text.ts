/** A fault of a JSON value that was sent, and its place: the keys and list indexes that lead to it. */
export interface JsonFault {
  fault: 'unstorable-text' | 'too-deep';
  path: readonly (string | number)[];
}

/** Deepest nesting of lists and objects in a JSON value that is read. */
export const deepestJson = 64;

/** True if `text` can be stored as it is: no NUL and no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

/** Description of a text that `isStorableText` accepts. */
export const storableText = 'text without NUL characters and without halves of surrogate pairs';

/** A list or object that is being looked through. */
interface Level {
  holder: Record<string | number, unknown>;
  /** Names of its fields; null = a list. */
  names: readonly string[] | null;
  length: number;
  at: number;
}

function levelOf(value: object): Level {
  const names = Array.isArray(value) ? null : Object.keys(value);
  return { holder: value as Level['holder'], names, length: names?.length ?? (value as unknown[]).length, at: -1 };
}

const keyAt = ({ names, at }: Level) => names?.[at] ?? at;

/**
 * A text, or name of a field, that cannot be stored, or a place nested deeper than `deepestJson`; null = none. Does not
 * recurse: what is nested too deep would overflow the stack of its next reader.
 */
export function jsonFault(value: unknown): JsonFault | null {
  const levels = [levelOf([value])];
  const found = (fault: JsonFault['fault']): JsonFault => ({ fault, path: levels.slice(1).map(keyAt) });
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    level.at += 1;
    if (level.at === level.length) {
      levels.pop();
      continue;
    }
    const key = keyAt(level);
    const inner = level.holder[key];
    if (typeof key === 'string' && !isStorableText(key)) return found('unstorable-text');
    if (typeof inner === 'string' && !isStorableText(inner)) return found('unstorable-text');
    if (typeof inner !== 'object' || inner === null || ArrayBuffer.isView(inner)) continue;
    if (levels.length > deepestJson) return found('too-deep');
    levels.push(levelOf(inner));
  }
  return null;
}

/**
 * True if a source that has strings, block strings and comments as GraphQL's has holds brackets of any kind nested
 * deeper than `most`.
 */
export function nestsDeeper(source: string, most: number): boolean {
  let depth = 0;
  // Text in which brackets mean nothing is skipped as one piece.
  for (const [piece] of source.matchAll(
    /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|#[^\n\r]*|[([{]|[)\]}]/g,
  )) {
    if ('([{'.includes(piece)) depth += 1;
    else if (')]}'.includes(piece)) depth -= 1;
    if (depth > most) return true;
  }
  return false;
}
