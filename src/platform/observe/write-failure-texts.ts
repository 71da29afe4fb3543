const texts: Readonly<Record<string, string>> = {
  read_only: 'The database is read-only: nothing can be written.',
  disk_full: 'The disk of the database is full: nothing can be written.',
  permission_denied: 'The database user may not write.',
  io_error: 'The database cannot write to its disk.',
};

/** Reasons for which writes fail, for operators: one text per condition, whichever writers it affects. */
export function writeFailureTexts(failing: ReadonlyMap<string, string>): string[] {
  const conditions = new Set(
    [...failing.values()].map((problem) => texts[problem]).filter((text) => text !== undefined),
  );
  if (conditions.size > 0) return [...conditions];
  return failing.size === 0 ? [] : [`Writing to the database fails: ${[...failing.keys()].sort().join(', ')}.`];
}
