// Checks what docs/style.md asks for and Biome has no rule for: the length of lines, also of prose, and of functions,
// SQL keywords in upper case, names in the field's terms, the first words of comments, and that every failure is in its
// catalogue.
// `node scripts/check-style.ts [FOLDER]`; exit code 1 when something was found.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { functionLengths } from './function-lengths.ts';
import { codeOnly, lineOf, linesWithoutLiterals } from './source-text.ts';

const longest = 60;
const widest = 120;

/** Words without a clear meaning, and the field's term for each. */
const terms: Readonly<Record<string, string>> = {
  door: 'endpoint',
  crew: 'workerPool',
  flusher: 'batchWriter',
  keyring: 'apiKeys',
  numbering: 'internTable',
  refusal: 'requestError',
  told: 'sent',
  whoever: 'caller',
};

const keywords =
  /\b(?:select|insert into|update|delete from|from|where|order by|group by|having|union all|values|returning|on conflict|left join|inner join|cross join|create (?:table|index|unique index|database)|alter table|drop table)\b/g;

const sqlText = /(['`])(select|insert|update|delete|with|create|alter|copy) [^'`]*\1/g;

function partsOf(name: string): string[] {
  return name.split(/(?=[A-Z])|[-_]/).map((part) => part.toLowerCase());
}

function* names(file: string, text: string, code: string): Generator<string> {
  for (const part of partsOf(basename(file, '.ts')))
    if (Object.hasOwn(terms, part)) yield `${file}  a file named by "${part}"; the field's term is ${terms[part]}`;
  for (const { 0: name, index } of code.matchAll(/(?<![.\w$])[A-Za-z_$][\w$]*/g)) {
    const found = partsOf(name).find((part) => Object.hasOwn(terms, part));
    if (found) yield `${file}:${lineOf(text, index)}  ${name}: the field's term for "${found}" is ${terms[found]}`;
  }
}

function* lengths(file: string, text: string, code: string): Generator<string> {
  for (const { offset, lines } of functionLengths(code))
    if (lines > longest)
      yield `${file}:${lineOf(text, offset)}  a function of ${lines} lines, those of functions inside it among them; at most ${longest}`;
}

/**
 * Lines over the limit. The content of a string, template or regular expression does not count: breaking it would hide
 * it from a search. Nor does a comment line of one word, such as a URL.
 */
function* widths(file: string, text: string): Generator<string> {
  for (const [index, line] of linesWithoutLiterals(text).entries())
    if (line.length > widest && line.trim().split(' ').length > 2)
      yield `${file}:${index + 1}  a line of ${line.length} characters, literals aside; at most ${widest}`;
}

/** Lines of prose over the limit. Tables, code and what cannot be broken do not count. */
function* proseWidths(file: string, text: string): Generator<string> {
  let inCode = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trimStart().startsWith('```')) inCode = !inCode;
    if (inCode || /^(\||#| {4})/.test(line) || line.length <= widest || !line.slice(0, widest).trim().includes(' '))
      continue;
    yield `${file}:${index + 1}  a line of ${line.length} characters; at most ${widest}`;
  }
}

function* sqlOf(file: string, text: string): Generator<string> {
  const statements = file.endsWith('.sql')
    ? [{ 0: text.replace(/--.*|'[^']*'/g, ''), index: 0 }]
    : text.matchAll(sqlText);
  for (const { 0: statement, index } of statements) {
    const [found] = statement.match(keywords) ?? [];
    if (found) yield `${file}:${lineOf(text, index)}  SQL keywords are upper case: ${found}`;
  }
}

/** A comment's first words that make a clause of it instead of a noun phrase or a verb. */
const clause = /^[ \t]*(?:\/\*\*?|\/\*\*?\n[ \t]*\*|\/\/)[ \t]+(What|Whether|How|Of|For who)\b/gm;

/** Comments that begin with a clause. Lines after the first of a comment of several may begin so. */
function* openings(file: string, text: string): Generator<string> {
  for (const { 0: opening, 1: word, index } of text.matchAll(clause)) {
    const before = text.slice(0, index).trimEnd();
    const continues =
      opening.trimStart().startsWith('//') && /^[ \t]*\/\//.test(before.slice(before.lastIndexOf('\n') + 1));
    if (!continues)
      yield `${file}:${lineOf(text, index + opening.length)}  a comment begins with "${word}"; begin with a noun or a verb`;
  }
}

/** Words that comments have plainer ones for, as the tables of docs/style.md. */
const plainer: Readonly<Record<string, string>> = {
  door: 'endpoint',
  doors: 'endpoints',
  crew: 'worker pool',
  refusal: 'rejection',
  'key ring': 'API keys',
  flusher: 'batch writer',
  numbering: 'numbers',
  facts: 'details',
  told: 'sent, reported or notified',
  whoever: 'the one that is meant',
  whom: 'the one that is meant',
  'so many': 'the number',
  anew: 'again',
  'under way': 'in progress',
  'out of reach': 'not reachable',
  moment: 'instant',
  'at sight': 'on first use',
  'puts right': 'corrects',
  'goes on': 'continues',
  'lies in': 'is in',
  'stands in': 'is in',
  'is told': 'is notified, or receives',
  'passed over': 'skipped',
  'left out': 'omitted',
  'for who': 'the one that is meant',
};

const oddWord = new RegExp(String.raw`^[ \t]*(?:\*|/\*\*|//).*?\b(${Object.keys(plainer).join('|')})\b`, 'gm');

function* oddWords(file: string, text: string): Generator<string> {
  for (const { 0: line, 1: word, index } of text.matchAll(oddWord))
    yield `${file}:${lineOf(text, index + line.length)}  a comment says "${word}"; write ${plainer[word!]}`;
}

/** Objects spread where they are written: their properties are the object's own. */
const spreadObject = /[{,]\s*\.\.\.\(*\{/g;
/** The same of lists. Tests have tables of words, which read better in rows. */
const spreadList = /[[,(]\s*\.\.\.\(*\[[^[\]]*\](?:\s*as const)?\)*\s*[,\])]/g;

function* literalSpreads(file: string, text: string, code: string): Generator<string> {
  for (const { index } of code.matchAll(spreadObject))
    yield `${file}:${lineOf(text, index + 1)}  spreads an object that it writes; write its properties`;
  if (!file.startsWith('src/')) return;
  for (const { index } of code.matchAll(spreadList))
    yield `${file}:${lineOf(text, index + 1)}  spreads a list that it writes; write its items`;
}

/** The file that makes failures: the catalogue, where each condition has a name. */
const failureCatalogue = 'src/platform/wire/failure.ts';

function* failures(file: string, text: string, code: string): Generator<string> {
  if (file === failureCatalogue) return;
  for (const { index } of code.matchAll(/\bnew\s+Failure\b/g))
    yield `${file}:${lineOf(text, index)}  makes a failure of its own; name the condition in ${failureCatalogue}`;
}

const patterns = ['{clients/typescript/src,src,scripts,bench,test}/**/*.{ts,mjs}', '{src,prisma/migrations}/**/*.sql'];
const prose = ['README.md', 'docs/**/*.md'];
const notOurs = ['**/node_modules', '**/generated'];

/** Everything that is wrong below `folder`. */
function* findings(folder: string): Generator<string> {
  const files = globSync(patterns, { cwd: folder, exclude: notOurs }).sort();
  if (files.length === 0) yield 'src  holds no source: nothing was checked';
  for (const file of files.map((each) => each.replaceAll('\\', '/'))) {
    const text = readFileSync(join(folder, file), 'utf8');
    if (file.startsWith('src/store/') || file.endsWith('.sql')) yield* sqlOf(file, text);
    if (file.endsWith('.sql')) continue;
    yield* widths(file, text);
    yield* openings(file, text);
    yield* oddWords(file, text);
    const code = codeOnly(text);
    yield* literalSpreads(file, text, code);
    if (!file.startsWith('src/')) continue;
    yield* names(file, text, code);
    yield* failures(file, text, code);
    yield* lengths(file, text, code);
  }
  for (const file of globSync(prose, { cwd: folder }).sort())
    yield* proseWidths(file.replaceAll('\\', '/'), readFileSync(join(folder, file), 'utf8'));
}

const found = [...findings(process.argv[2] ?? join(import.meta.dirname, '..'))];
for (const finding of found) console.error(finding);
console.error(`style: ${found.length} findings`);
process.exitCode = found.length === 0 ? 0 : 1;
