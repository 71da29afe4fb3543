/** Thrown for text that is not CSV of one record per line; the message is the reason. */
class CsvTextError extends Error {
  override readonly name = 'CsvTextError';
}

const maxLineLength = 4 * 1024 * 1024;

async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const bytes of source) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop()!;
    if (rest.length > maxLineLength) throw new CsvTextError(`a line is over ${maxLineLength} characters long`);
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}

/**
 * The records of a CSV, its header first; null for a blank line, which has a number too. Each has as many cells as the
 * header. Throws `CsvTextError`.
 */
export async function* csvRows(source: AsyncIterable<Buffer>): AsyncGenerator<string[] | null> {
  let width = 0;
  let line = 0;
  for await (const text of linesOf(source)) {
    line++;
    const cells = text.trim() === '' ? null : splitCsvLine(text.endsWith('\r') ? text.slice(0, -1) : text);
    if (cells === null && text.trim() !== '') throw new CsvTextError(`line ${line}: unterminated quoted field`);
    if (cells && width === 0) width = cells.length;
    if (cells && cells.length !== width)
      throw new CsvTextError(`line ${line}: expected ${width} columns, found ${cells.length}`);
    if (cells || width > 0) yield cells;
  }
}

/** Finds a column by its name in either case: its index in `header`, −1 if absent. Throws `CsvTextError` for two. */
export function columnFinder(header: readonly string[]): (name: string) => number {
  const names = header.map((name) => name.trim().toLowerCase());
  return (name) => {
    const index = names.indexOf(name.toLowerCase());
    if (names.lastIndexOf(name.toLowerCase()) !== index)
      throw new CsvTextError(`line 1: the header has the column ${name} twice`);
    return index;
  };
}

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
