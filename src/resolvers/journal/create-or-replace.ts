/** Storage of a journal's record under its id. */
interface Stored<T> {
  record: T;
  /** Replaces the one with its id; null = there is none. */
  replace: () => Promise<T | null>;
  /** Stores it as new; false = there is one of its id. */
  insert: () => Promise<boolean>;
}

/** Replaces a record, or creates it: what a PUT does. Sending it again, or at the same time, makes no second one. */
export async function createOrReplace<T>({ record, replace, insert }: Stored<T>): Promise<T> {
  const replaced = await replace();
  if (replaced !== null) return replaced;
  if (await insert()) return record;
  // Another request created it in the meantime; one that deleted it since came after this one.
  return (await replace()) ?? record;
}
