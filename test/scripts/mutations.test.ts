import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API } from 'typescript-compiler/unstable/sync';
import { describe, expect, it } from 'vitest';
import { candidatesOf } from '../../scripts/mutations/candidates.ts';
import { type Mutation, mutated } from '../../scripts/mutations/choose.ts';
import { byNearness } from '../../scripts/mutations/nearness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** The text of a module with each edit that can be made in it. */
function everyMutant(text: string): string[] {
  const [file, config] = [join(folder(), 'a.ts'), join(folder(), 'tsconfig.json')];
  writeFileSync(file, text);
  writeFileSync(config, '{"files":["a.ts"],"compilerOptions":{"noLib":true,"types":[]}}');
  const api = new API({ cwd: folder() });
  const source = api
    .updateSnapshot({ openProjects: [config] })
    .getProjects()[0]!
    .program.getSourceFile(file)!;
  const edits = candidatesOf(source);
  api.close();
  return edits.map(({ start, end, after }) => text.slice(0, start) + after + text.slice(end));
}

/** The mutation that makes the `<` of a text a `<=`. */
function mutationAt(text: string, context: string): Mutation {
  const start = text.indexOf('<');
  const place = { start, end: start + 1, after: '<=', context, contextAt: text.indexOf(context) };
  return { id: '', area: '', kind: '', file: '', ...place };
}

describe('mutations', () => {
  it.each([
    ['an operator', 'f(a < b)', ['f(a <= b)', '{}']],
    ['a whole number', 'let a = 0', ['let a = 1']],
    ['an early return', 'if (a) { return; }', ['{}']],
    ['a condition', 'let a = b ? c : d', ['let a = true ? c : d']],
    ['a negation', 'let a = !b', ['let a = b']],
    ['a value', 'let a = { b: c }', ['let a = { b: null }']],
    ['an order', 'let a = b.sort()', ['let a = b.sort().reverse()']],
    ['a method', 'let a = b.some(c)', ['let a = b.every(c)']],
  ])('change %s', (_, text, expected) => {
    expect(everyMutant(text)).toEqual(expect.arrayContaining(expected));
  });

  it('change no type, no import, no error and no line of the log', () => {
    const text = "import a from 'a'; type B = 1 | true; let c: 2; throw new Error(a + 1, { b: 2 }); log(1 + 2);";
    expect(everyMutant(text)).toEqual([]);
  });

  it('are put at their place when the lines have moved, and nowhere when the lines have changed or are there twice', () => {
    const place = 'if (a < b)\n  f();';
    const mutation = mutationAt(`g();\n${place}\n`, place);
    expect(mutated(`g();\n${place}\n`, mutation)).toBe('g();\nif (a <= b)\n  f();\n');
    expect(mutated(`g();\ng();\n${place}\n`, mutation)).toBe('g();\ng();\nif (a <= b)\n  f();\n');
    expect(mutated('g();\nif (a < c)\n  f();\n', mutation)).toBeNull();
    expect(mutated(`h(1);\n${place}\n${place}\n`, mutation)).toBeNull();
  });

  it('are tried first on the tests that import their file, then on those of the same words', () => {
    const tests = { 'far.test.ts': '', 'rest-gex.test.ts': '', 'user.test.ts': "from '../src/gex/gex.ts'" };
    for (const [file, text] of Object.entries(tests)) writeFileSync(join(folder(), file), text);
    const mutation = { ...mutationAt('a < b', 'a < b'), file: 'src/gex/gex.ts' };
    expect(byNearness([mutation], folder(), Object.keys(tests))).toEqual([
      'user.test.ts',
      'rest-gex.test.ts',
      'far.test.ts',
    ]);
  });
});
