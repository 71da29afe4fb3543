/** A function with a body in braces: where the body begins, and its lines, those of functions inside it among them. */
export interface FunctionLength {
  offset: number;
  lines: number;
}

const controls = new Set(['if', 'for', 'while', 'switch', 'catch', 'with']);
// Tokens before a brace that opens a type, not a body.
const beforeType = /[:|&,<(?]$|=>$|\b(?:extends|keyof|is|in|as|satisfies)$/;

/** Where the bracket that closes at `end` opens; -1 when nowhere. */
function openingOf(code: string, end: number): number {
  let depth = 0;
  for (let i = end; i >= 0; i--) {
    if (code[i] === ')') depth++;
    else if (code[i] === '(' && --depth === 0) return i;
  }
  return -1;
}

// A return type between the parameters and the body: no statement, and every brace in it closed.
const returnType = /\)\s*:\s*[^;=]*$/;

function opensBody(code: string, brace: number): boolean {
  const before = code.slice(Math.max(0, brace - 400), brace).trimEnd();
  if (before.endsWith('=>')) return true;
  if (before.endsWith(')')) {
    const opening = openingOf(code, brace - 1 - (code.slice(0, brace).length - code.slice(0, brace).trimEnd().length));
    const word = /([\w$]+|>)\s*$/.exec(code.slice(Math.max(0, opening - 60), opening))?.[1];
    return word !== undefined && !controls.has(word);
  }
  return returnType.test(before) && !beforeType.test(before);
}

/**
 * Every function with a body in `code`, which is text of `codeOnly`. Type literals after an arrow may count; they are
 * short.
 */
export function functionLengths(code: string): FunctionLength[] {
  const found: FunctionLength[] = [];
  const open: { offset: number; line: number; isBody: boolean }[] = [];
  let line = 0;
  for (let i = 0; i < code.length; i++) {
    if (code[i] === '\n') line++;
    else if (code[i] === '{') open.push({ offset: i, line, isBody: opensBody(code, i) });
    else if (code[i] === '}') {
      const { offset, line: first, isBody } = open.pop()!;
      if (isBody) found.push({ offset, lines: line - first + 1 });
    }
  }
  return found;
}
