/** One import or re-export as written. */
export interface ImportSite {
  /** Null when the target is computed, so that no check can tell what it is. */
  specifier: string | null;
  line: number;
  /** `import type` or `export type`: gone at run time. */
  typeOnly: boolean;
}

// Text that a slash of a regular expression can follow. After a value, and after a `!` behind one, a slash divides.
const beforeRegex =
  /(?:^|[(,=:[&|?{};+\-*%~^<>]|(?<![\w$)\]!])!+|\b(?:return|typeof|case|in|of|do|else|void|delete|await|yield))\s*$/;

function endOfQuoted(text: string, start: number): number {
  const quote = text[start]!;
  for (let i = start + 1; i < text.length && text[i] !== '\n'; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === quote) return i;
  }
  throw new Error('a string that does not end');
}

function endOfRegex(text: string, start: number): number {
  let inClass = false;
  for (let i = start + 1; i < text.length && text[i] !== '\n'; i++) {
    const char = text[i];
    if (char === '\\') i++;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return i;
  }
  throw new Error('a regular expression that does not end');
}

// End of the literal part of a template that continues at `start`: its closing ` or the { of a ${.
function endOfTemplatePart(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '`') return i;
    else if (text[i] === '$' && text[i + 1] === '{') return i + 1;
  }
  throw new Error('a template that does not end');
}

function endOfComment(text: string, start: number): number {
  const mark = text[start + 1] === '/' ? '\n' : '*/';
  const end = text.indexOf(mark, start + 2);
  if (end >= 0) return mark === '\n' ? end - 1 : end + 1;
  if (mark === '\n') return text.length - 1;
  throw new Error('a comment that does not end');
}

/** Content of a string, a template part or a regular expression, as offsets: `from` included, `to` not. */
interface LiteralSpan {
  from: number;
  to: number;
}

function scan(text: string): { code: string; literals: LiteralSpan[] } {
  const code = text.split('');
  const literals: LiteralSpan[] = [];
  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (code[i] !== '\n') code[i] = ' ';
  };
  const literal = (from: number, to: number) => {
    literals.push({ from, to });
    blank(from, to);
  };
  // Braces still open in each `${` the scan is inside of, innermost last.
  const templates: number[] = [];
  const templatePart = (from: number): number => {
    const end = endOfTemplatePart(text, from);
    literal(from, end);
    if (text[end] === '{') templates.push(0);
    return end;
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    const depth = templates.at(-1);
    if (char === '/' && (text[i + 1] === '/' || text[i + 1] === '*')) {
      const end = endOfComment(text, i);
      blank(i, end + 1);
      i = end;
    } else if (char === '"' || char === "'") {
      const end = endOfQuoted(text, i);
      literal(i + 1, end);
      i = end;
    } else if (char === '`') {
      i = templatePart(i + 1);
    } else if (char === '/' && beforeRegex.test(code.slice(Math.max(0, i - 80), i).join(''))) {
      const end = endOfRegex(text, i);
      literal(i + 1, end);
      i = end;
    } else if (depth !== undefined && char === '{') {
      templates[templates.length - 1] = depth + 1;
    } else if (depth !== undefined && char === '}') {
      if (depth > 0) templates[templates.length - 1] = depth - 1;
      else {
        templates.pop();
        i = templatePart(i + 1);
      }
    }
  }
  if (templates.length > 0) throw new Error('a template that does not end');
  return { code: code.join(''), literals };
}

/**
 * `text` (TypeScript) with blanks for comments and for what is inside strings, templates and regular expressions;
 * quotes, line breaks and every offset stay. Throws on text that it cannot follow rather than guess.
 */
export function codeOnly(text: string): string {
  return scan(text).code;
}

/** The lines of `text` (TypeScript) without what is inside strings, templates and regular expressions. */
export function linesWithoutLiterals(text: string): string[] {
  let rest = '';
  let at = 0;
  for (const { from, to } of scan(text).literals) {
    rest += text.slice(at, from) + text.slice(from, to).replace(/[^\n]/g, '');
    at = to;
  }
  return (rest + text.slice(at)).split('\n');
}

/** The 1-based line of an offset. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

const fromClause = /\b(?:import|export)\b([^'"`;()]*?)\bfrom\s*(['"]) *\2/g;
const bareImport = /\bimport\s*(['"]) *\1/g;
const dynamicImport = /\bimport\s*\(\s*(?:(['"]) *\1)?/g;

/** Every import and re-export of a module, static, for its effect, and dynamic. */
export function importsOf(text: string): ImportSite[] {
  const code = codeOnly(text);
  const sites: ImportSite[] = [];
  for (const pattern of [fromClause, bareImport, dynamicImport]) {
    for (const match of code.matchAll(pattern)) {
      const end = match.index + match[0].length;
      const quoted = /(['"])( *)\1$/.exec(match[0]);
      const specifier = quoted ? text.slice(end - 1 - quoted[2]!.length, end - 1) : null;
      const typeOnly = pattern === fromClause && /^\s+type\b(?!\s*,)/.test(match[1]!);
      sites.push({ specifier, line: lineOf(text, match.index), typeOnly });
    }
  }
  return sites.sort((a, b) => a.line - b.line);
}
