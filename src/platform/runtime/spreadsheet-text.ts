// Spreadsheets evaluate a cell that begins with one of these characters; quotes before it are from `inertText`.
const runs = /^'*[=+\-@\t\r]/;

/** A text as a cell that spreadsheets show and do not evaluate: with a quote before it if necessary. */
export function inertText(text: string): string {
  return runs.test(text) ? `'${text}` : text;
}

/** The original text of a cell of `inertText`. */
export function originalText(cell: string): string {
  return cell.startsWith("'") && runs.test(cell) ? cell.slice(1) : cell;
}
