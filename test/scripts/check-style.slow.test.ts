import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { functionLengths } from '../../scripts/function-lengths.ts';
import { codeOnly } from '../../scripts/source-text.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function check(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'style-'));
  folders.push(folder);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, ['scripts/check-style.ts', folder], { encoding: 'utf8' });
  return { code: status, findings: stderr.trim().split('\n').slice(0, -1) };
}

const lines = (count: number) => 'count();\n'.repeat(count);

describe('the style check', () => {
  it('passes a function of 60 lines, and a class of short methods', () => {
    const method = `  m() {\n${lines(40)}  }\n`;
    const text = `export class A {\n${method}${method.replace('m(', 'n(')}}\n`;
    expect(check({ 'src/a.ts': `function f() {\n${lines(58)}}\n`, 'src/b.ts': text })).toEqual({
      code: 0,
      findings: [],
    });
  });

  it('counts the lines of functions inside a function', () => {
    const inner = `function inner() {\n${lines(30)}}\n`;
    const text = `export function outer() {\n${inner}${inner.replace('inner', 'other')}return { inner, other };\n}\n`;
    expect(check({ 'src/b.ts': text })).toEqual({
      code: 1,
      findings: ['src/b.ts:1  a function of 67 lines, those of functions inside it among them; at most 60'],
    });
  });

  it.each([
    ['a function over 60 lines', 'src/a.ts', `function f() {\n${lines(59)}}\n`, 'src/a.ts:1  a function of 61 lines'],
    ['an arrow function', 'src/a.ts', `const f = async (a: string) => {\n${lines(60)}};\n`, 'a function of 62 lines'],
    ['a method with a return type', 'src/a.ts', `class A {\n  m(): { a: number } {\n${lines(60)}}\n}\n`, 'of 62 lines'],
    [
      'a comment with an odd word',
      'src/a.ts',
      '/** The clients that are told. */\n',
      'src/a.ts:1  a comment says "told"',
    ],
    ['a name that only the project knows', 'src/a.ts', 'export const doorOf = 1;\n', 'src/a.ts:1  doorOf: the field'],
    ['a file of such a name', 'src/crew.ts', 'export const a = 1;\n', 'src/crew.ts  a file named by "crew"'],
    ['a statement in lower case', 'src/store/rows/sql/a.sql', 'SELECT 1 from a\n', 'upper case: from'],
    ['one in code of the store', 'src/store/rows/a.ts', "query('select 1');\n", 'upper case: select'],
    ['a line over 120 characters', 'src/a.ts', `// ${'a '.repeat(60)}\n`, 'src/a.ts:1  a line of 123 characters'],
    ['one in a test', 'test/a.test.ts', `run(${'a + '.repeat(40)}b);\n`, 'test/a.test.ts:1  a line of 167'],
    ['one beside a string', 'bench/a.mjs', `run('${'a'.repeat(90)}', ${'a + '.repeat(40)}b);\n`, 'a line of 171'],
    ['a literal spread', 'test/a.ts', 'export const a = {\n  b: 1,\n  ...{ c, d },\n};\n', 'spreads an object that it'],
    ['a list of one', 'src/a.ts', "export const a = [b, ...(['c', 'd'] as const), e];\n", 'src/a.ts:1  spreads a list'],
    ['a docstring that is a clause', 'src/a.ts', '/** What it is. */\nexport const a = 1;\n', 'begins with "What"'],
    [
      'one of several lines',
      'src/a.ts',
      '/**\n * Whether it is,\n * or not.\n */\n',
      'src/a.ts:2  a comment begins with "Whether"',
    ],
    ['the head of a file', 'src/a.ts', '/*\n * How it is made.\n */\n', 'src/a.ts:2  a comment begins with "How"'],
    ['a comment that is one', 'src/a.ts', '  // Of two the first.\n', 'begins with "Of"'],
    ['one of a test', 'test/a.test.ts', '// Whether it is.\n', 'test/a.test.ts:1  a comment begins with "Whether"'],
    ['one of a script', 'scripts/a.mjs', '/** How long. */\n', 'scripts/a.mjs:1  a comment begins with "How"'],
    ['an odd word of a bench', 'bench/a.ts', '// Behind the door.\n', 'bench/a.ts:1  a comment says "door"'],
    ['one of the client', 'clients/typescript/src/a.ts', '/** It goes on. */\n', 'a comment says "goes on"'],
    [
      'a failure made outside the catalogue',
      'src/a.ts',
      "throw new Failure(400, 'a', 'b');\n",
      'src/a.ts:1  makes a failure',
    ],
    ['no source', 'docs/a.md', '', 'src  holds no source'],
  ])('reports %s', (_, file, text, expected) => {
    const { code, findings } = check({ [file]: text });
    expect(code).toBe(1);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toContain(expected);
  });

  it('lets later lines of a comment begin as they fall', () => {
    const text = '// A noun, and\n// What follows it.\n\n/**\n * A noun, and\n * How it continues.\n */\n';
    expect(check({ 'src/a.ts': text })).toEqual({ code: 0, findings: [] });
  });

  it('reports long lines of prose, but for tables, code and addresses', () => {
    const long = 'word '.repeat(30).trim();
    const address = `https://example.com/${'a'.repeat(120)}`;
    const text = `# ${long}\n\n${long}\n\n- ${long}\n\n| ${long} |\n\n\`\`\`\n${long}\n\`\`\`\n\n    ${long}\n\n${address}\n`;
    expect(check({ 'src/a.ts': '', 'docs/a.md': text, 'README.md': `${long}\n` }).findings).toEqual([
      'README.md:1  a line of 149 characters; at most 120',
      'docs/a.md:3  a line of 149 characters; at most 120',
      'docs/a.md:5  a line of 151 characters; at most 120',
    ]);
  });

  it.each([
    ['a branch', `if (a) {\n${lines(60)}}\n`],
    ['a list of fields', `const a = (t) => ({\n${lines(60)}});\n`],
    ['a type', `interface A {\n${lines(60)}}\n`],
  ])('counts %s as no function', (_, text) => {
    expect(functionLengths(codeOnly(text)).filter((found) => found.lines > 50)).toEqual([]);
  });

  it.each([
    ['of 120 characters', 'src/a.ts', `// ${'a '.repeat(58)}b\n`],
    ['that a string makes long', 'test/a.ts', `run('${'a '.repeat(90)}');\n`],
    ['within a template', 'src/a.ts', `const a = \`\n${'a '.repeat(90)}\n\`;\n`],
    ['that a regular expression makes long', 'scripts/a.ts', `const a = /${'a|'.repeat(90)}b/;\n`],
    ['of a comment that is one URL', 'bench/a.mjs', `// https://example.com/${'a'.repeat(120)}\n`],
    ['of a generated file', 'test/clients/generated/a.ts', `// ${'a '.repeat(90)}\n`],
  ])('passes a line %s', (_, file, text) => {
    expect(check({ [file]: text, 'src/other.ts': 'export const a = 1;\n' })).toEqual({ code: 0, findings: [] });
  });

  it('lets the catalogue of failures make them', () => {
    const text = 'export const gone = () => new Failure(410);\n';
    expect(check({ 'src/platform/wire/failure.ts': text })).toEqual({ code: 0, findings: [] });
  });

  it('leaves words in texts and members of others alone', () => {
    const text = "const a = 'told';\nanswer.refusal();\n";
    expect(check({ 'src/a.ts': text })).toEqual({ code: 0, findings: [] });
  });
});
