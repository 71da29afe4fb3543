import { isStorableText } from '../runtime/storable-text.ts';

/** An error in a JSON value, and its path: the keys and list indexes that lead to it. */
export interface JsonFault {
  fault: 'unstorable-text' | 'too-deep';
  path: readonly (string | number)[];
}

/** Maximum nesting of lists and objects in a JSON value. */
export const deepestJson = 64;

/** A list or object during traversal. */
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
 * The first string or field name that cannot be stored, or position nested deeper than `deepestJson`; null = none. Does
 * not recurse, because deep nesting would overflow the stack.
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
 * True if a source with strings, block strings and comments in GraphQL's syntax has brackets of any kind nested deeper
 * than `most`.
 */
export function nestsDeeper(source: string, most: number): boolean {
  let depth = 0;
  // Text in which brackets have no meaning is skipped as one token.
  for (const [piece] of source.matchAll(
    /"""(?:\\"""|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\n])*"?|#[^\n\r]*|[([{]|[)\]}]/g,
  )) {
    if ('([{'.includes(piece)) depth += 1;
    else if (')]}'.includes(piece)) depth -= 1;
    if (depth > most) return true;
  }
  return false;
}
