/** One record of a CSV text. */
interface CsvRecord {
  /** 1-based line on which it starts. */
  row: number;
  /** Its fields, unquoted; null = invalid quoting, or more than `maxFields`. */
  fields: string[] | null;
}

// Maximum number of fields; a line of ten million commas must not become ten million fields.
const maxFields = 100;

/**
 * Parses RFC 4180: fields in quotes may contain commas, line breaks and doubled quotes; lines end in LF or CRLF. Blank
 * lines are skipped. A quote inside an unquoted field, or anything but a comma after a closing one, invalidates the
 * record up to the end of its line; an unclosed quote invalidates everything after it. One pass, also over invalid
 * text.
 */
export function* csvRecords(text: string): Generator<CsvRecord> {
  let row = 1;
  for (let at = 0; at < text.length; ) {
    const { fields, end, lines } = readRecord(text, at);
    const blank = fields?.length === 1 && text.slice(at, end).trim() === '';
    if (!blank) yield { row, fields };
    row += lines;
    at = end;
  }
}

interface Field {
  /** Null = invalid. */
  value: string | null;
  /** Offset after it. */
  end: number;
  /** Number of line breaks inside it. */
  breaks: number;
}

function readRecord(text: string, start: number): { fields: string[] | null; end: number; lines: number } {
  const fields: string[] = [];
  let lines = 1;
  for (let at = start; ; ) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    lines += field.breaks;
    if (field.value === null || fields.length === maxFields) {
      return { fields: null, end: nextLine(text, field.end), lines };
    }
    fields.push(field.value);
    if (text[field.end] !== ',') return { fields, end: nextLine(text, field.end), lines };
    at = field.end + 1;
  }
}

function nextLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}

/** True if a record's last field may end at `at`: the text's end, LF or CRLF. */
function endsLine(text: string, at: number): boolean {
  const next = text[at] === '\r' ? at + 1 : at;
  return next >= text.length || text[next] === '\n';
}

const plainText = /[^,"\n]*/y;

function plainField(text: string, start: number): Field {
  plainText.lastIndex = start;
  const value = plainText.exec(text)![0];
  const end = start + value.length;
  if (text[end] === '"') return { value: null, end, breaks: 0 };
  const carriageReturn = text[end] !== ',' && value.endsWith('\r');
  return { value: carriageReturn ? value.slice(0, -1) : value, end, breaks: 0 };
}

function quotedField(text: string, start: number): Field {
  let breaks = 0;
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    const stop = quote === -1 ? text.length : quote;
    for (let i = from; i < stop; i += 1) if (text.charCodeAt(i) === 10) breaks += 1;
    if (quote === -1) return { value: null, end: text.length, breaks };
    if (text[quote + 1] === '"') {
      from = quote + 2;
      continue;
    }
    const end = quote + 1;
    if (text[end] !== ',' && !endsLine(text, end)) return { value: null, end, breaks };
    return { value: text.slice(start + 1, quote).replaceAll('""', '"'), end, breaks };
  }
}
