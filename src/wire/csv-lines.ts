/** One field: null is empty, an empty text is a pair of quotes, so that the two stay apart. */
function csvField(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A record as RFC 4180 writes it, without the end of its line. */
export function csvLine(fields: readonly (string | number | boolean | null | undefined)[]): string {
  // An empty line would be no record at all to most readers.
  return fields.length === 1 && (fields[0] ?? null) === null ? '""' : fields.map(csvField).join(',');
}
