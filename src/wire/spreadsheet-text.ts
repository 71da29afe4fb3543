// A spreadsheet runs a cell that begins with one of these; quotes before it are those of `inertText`.
const runs = /^'*[=+\-@\t\r]/;

/** A text as a cell that a spreadsheet shows and does not run: with a quote before it where it would. */
export function inertText(text: string): string {
  return runs.test(text) ? `'${text}` : text;
}

/** The text that `inertText` made a cell of. */
export function originalText(cell: string): string {
  return cell.startsWith("'") && runs.test(cell) ? cell.slice(1) : cell;
}
