/** One field: null is empty, an empty text is a pair of quotes, so that the two can be distinguished. */
function csvField(value: string | number | boolean | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A record by RFC 4180, without its line end. */
export function csvLine(fields: readonly (string | number | boolean | null | undefined)[]): string {
  // Most readers would skip an empty line.
  return fields.length === 1 && (fields[0] ?? null) === null ? '""' : fields.map(csvField).join(',');
}
