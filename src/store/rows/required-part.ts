/** Thrown for a part that another part which was read refers to, and that is not there: of two commits, or damaged. */
export class MissingPart extends Error {
  override readonly name = 'MissingPart';
}

/** A part of what was read, by its key. Throws `MissingPart`; `what`: what the parts are. */
export function requiredPart<K, V>(parts: ReadonlyMap<K, V>, key: K, what: string): NonNullable<V> {
  const part = parts.get(key);
  if (part == null) throw new MissingPart(`${what} ${String(key)} is not there`);
  return part;
}
