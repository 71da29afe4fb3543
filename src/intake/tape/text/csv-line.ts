// No CSV library: docs/decisions/0023-one-csv-reader.md.

/** The fields of a CSV line; null if a quoted field does not end in it. */
export function splitCsvLine(line: string): string[] | null {
  const fields: string[] = [];
  if (!line.includes('"')) {
    let start = 0;
    for (let end = line.indexOf(','); end >= 0; end = line.indexOf(',', start)) {
      fields.push(line.slice(start, end));
      start = end + 1;
    }
    fields.push(line.slice(start));
    return fields;
  }
  for (let at = 0; ; ) {
    if (line[at] !== '"') {
      const end = line.indexOf(',', at);
      fields.push(line.slice(at, end < 0 ? undefined : end));
      if (end < 0) return fields;
      at = end + 1;
      continue;
    }
    let text = '';
    for (at++; ; ) {
      const end = line.indexOf('"', at);
      if (end < 0) return null;
      text += line.slice(at, end);
      at = end + 1;
      if (line[at] !== '"') break;
      text += '"';
      at++;
    }
    // Text after a closing quote belongs to the field, as spreadsheets read it.
    const end = line.indexOf(',', at);
    fields.push(text + line.slice(at, end < 0 ? undefined : end));
    if (end < 0) return fields;
    at = end + 1;
  }
}
