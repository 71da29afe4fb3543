// Determines which test files reach which mutations, in a run of all files: a mark at the location of each records when
// it runs. A child process learns its test file from the environment. Each file has a process of its own, so that code
// that runs once is not attributed to the first file alone.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Edit } from './candidates.ts';
import { compilerOf, type Mutation, placeOf } from './choose.ts';
import { type Runner, runTests } from './run-tests.ts';
import { withTexts } from './tree.ts';

/** Name of the record of what runs outside any test file, or in a process whose environment a test has emptied. */
export const elsewhere = '(elsewhere)';

/** The function that each mark calls, also in a browser. */
const markOf = (folder: string) => `
function reached$(mark) {
  const seen = (globalThis.reached$ ??= new Set());
  if (seen.has(mark) || !globalThis.process) return;
  seen.add(mark);
  const record = process.env.REACH_RECORD ?? ${JSON.stringify(join(folder, elsewhere))};
  process.getBuiltinModule('node:fs').appendFileSync(record, mark + '\\n');
}
`;

const setupFile = 'test/support/reach-record.ts';

/** Runs before each test file. */
const setupOf = (folder: string) => `
import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
const file = expect.getState().testPath.slice(process.cwd().length + 1);
process.env.REACH_RECORD = ${JSON.stringify(folder)} + '/' + encodeURIComponent(file);
appendFileSync(process.env.REACH_RECORD, '');
`;

function configured(config: string): string {
  const text = config.replace('setupFiles: [', `setupFiles: ['${setupFile}', `);
  if (text === config) throw new Error('vitest.config.ts names no setupFiles');
  return text;
}

/** The node that a mark wraps: the expression of an operator or method, else the changed node. */
function markedBy(mark: number, edit: Edit) {
  const isWord = edit.kind === 'operator' || edit.kind === 'method';
  const isStatement = edit.kind === 'early exit removed' || edit.kind === 'statement removed';
  const [from, to] = isWord ? [edit.from, edit.to] : [edit.start, edit.end];
  return [
    { at: from, text: isStatement ? `{reached$(${mark});` : `(reached$(${mark}),`, order: from - to },
    { at: to, text: isStatement ? '}' : ')', order: to - from },
  ];
}

/** A source text with a mark at each edit. */
export function withMarks(text: string, edits: ReadonlyMap<number, Edit>): string {
  const marks = [...edits].flatMap(([mark, edit]) => markedBy(mark, edit));
  // From the end; of those at one position the inner ones first.
  marks.sort((a, b) => b.at - a.at || b.order - a.order);
  let marked = text;
  for (const { at, text: mark } of marks) marked = marked.slice(0, at) + mark + marked.slice(at);
  return marked;
}

/** The source files that have mutations, with a mark for each: its index in the list. */
function markedSources(tree: string, mutations: readonly Mutation[], call: string): Map<string, string> {
  const compiler = compilerOf(tree);
  const texts = new Map<string, string>();
  for (const [file, inFile] of Map.groupBy(mutations, (each) => each.file)) {
    if (!existsSync(join(tree, file))) continue;
    const text = readFileSync(join(tree, file), 'utf8');
    const edits = new Map<number, Edit>();
    for (const mutation of inFile) {
      const start = placeOf(text, mutation);
      const isIt = (edit: Edit) => edit.start === start && edit.kind === mutation.kind;
      const edit = start === null ? undefined : compiler.candidates(file).find(isIt);
      if (edit) edits.set(mutations.indexOf(mutation), edit);
    }
    texts.set(file, withMarks(text, edits) + call);
  }
  compiler.close();
  return texts;
}

const numbersIn = (record: string) =>
  existsSync(record) ? [...new Set(readFileSync(record, 'utf8').split('\n').filter(Boolean).map(Number))] : null;

/**
 * The indexes of the mutations that each test file reaches, by file; `elsewhere` is one more. A file that did not start
 * is not among them.
 */
export async function reachOf(
  runner: Runner,
  project: string,
  files: readonly string[],
  mutations: readonly Mutation[],
): Promise<Map<string, number[]>> {
  const { tree } = runner;
  const folder = join(tree, '../reach');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const texts = markedSources(tree, mutations, markOf(folder));
  texts.set(setupFile, setupOf(folder));
  texts.set('vitest.config.ts', configured(readFileSync(join(tree, 'vitest.config.ts'), 'utf8')));
  await withTexts(tree, texts, () => runTests(runner, project, files, ['--isolate']));
  const reach = new Map<string, number[]>();
  for (const file of [...files, elsewhere]) {
    const marks = numbersIn(join(folder, file === elsewhere ? elsewhere : encodeURIComponent(file)));
    if (marks) reach.set(file, marks);
  }
  return reach;
}
