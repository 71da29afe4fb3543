import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { API } from 'typescript-compiler/unstable/sync';
import { describe, expect, it } from 'vitest';
import { candidatesOf, type Edit } from '../../scripts/mutations/candidates.ts';
import { type Mutation, mutated } from '../../scripts/mutations/choose.ts';
import { byNearness } from '../../scripts/mutations/nearness.ts';
import { withMarks } from '../../scripts/mutations/reach.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

/** Every edit that can be made in the text of a module. */
function everyEdit(text: string): Edit[] {
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
  return edits;
}

/** The text of a module with each edit that can be made in it. */
function everyMutant(text: string): string[] {
  return everyEdit(text).map(({ start, end, after }) => text.slice(0, start) + after + text.slice(end));
}

/** The mutation that makes the `<` of a text a `<=`. */
function mutationAt(text: string, context: string): Mutation {
  const start = text.indexOf('<');
  const around = [{ text: context, at: text.indexOf(context) }];
  return { id: '', area: '', kind: '', file: '', start, end: start + 1, after: '<=', around };
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

  it('are put at their place when only their expression is as it was', () => {
    const around = ['f();\nif (a < b)', 'a < b'].map((text) => ({ text, at: text.length === 5 ? 9 : 0 }));
    const mutation = { ...mutationAt('', ''), around, start: 11, end: 12 };
    expect(mutated('return a < b;', mutation)).toBe('return a <= b;');
    expect(mutated('return a < b || a < b;', mutation)).toBeNull();
  });

  it('are reached when their place runs, and their marks change nothing else', () => {
    const text = `function f(a, log) {
      if (a > 3) return log;
      const doubled = [a, 2].map((each) => each * 2);
      for (const each of doubled) if (each === 6) log.push('six'); else log.push(!each);
      return a === 0 ? { most: Math.max(...doubled) } : doubled.sort();
    }`;
    const edits = everyEdit(text);
    const functionOf = (body: string) => new Function('reached$', `${body}; return f;`);
    const reachedBy = (a: number) => {
      const [log, sameLog, reached] = [[], [], new Set<number>()];
      const marked = functionOf(withMarks(text, new Map(edits.entries())))((mark: number) => reached.add(mark));
      expect(marked(a, log)).toEqual(functionOf(text)()(a, sameLog));
      expect(log).toEqual(sameLog);
      return edits.filter((_, i) => reached.has(i)).map(({ start, end }) => text.slice(start, end));
    };
    expect(reachedBy(9)).toEqual(['if (a > 3) return log;', '>', '3', 'log']);
    const [zero, three] = [reachedBy(0), reachedBy(3)];
    expect(zero).toEqual(expect.arrayContaining(['Math.max(...doubled)', '*', '!each']));
    expect(zero).not.toContain('doubled.sort()');
    expect(three).toEqual(expect.arrayContaining(["log.push('six');", 'doubled.sort()']));
    expect(three).not.toContain('Math.max(...doubled)');
  });

  it('are tried first on the tests that import their file, then on those of the same words', () => {
    const tests = { 'far.test.ts': '', 'rest-gex.test.ts': '', 'user.test.ts': "from '../src/gex/gex.ts'" };
    for (const [file, text] of Object.entries(tests)) writeFileSync(join(folder(), file), text);
    const mutation = { ...mutationAt('a < b', 'a < b'), file: 'src/gex/gex.ts' };
    expect(byNearness(mutation, folder(), Object.keys(tests))).toEqual([
      'user.test.ts',
      'rest-gex.test.ts',
      'far.test.ts',
    ]);
  });
});
