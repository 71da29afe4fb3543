// `npm run mutations`: how sharp the tests are. 60 small changes of the source, chosen by a seed over resolvers,
// entitlement, limits, codecs, analytics, ingest, contract and domain, are put in one at a time; each should fail a
// test. The tests run in a worktree of a commit, in a temporary folder: what is not committed is not measured.
//
//   npm run mutations -- --projects fast                   the tests of a tier, at HEAD
//   npm run mutations -- --commit v1 --projects a,b        the tests of another commit
//   npm run mutations -- --sites v1 --projects fast        at HEAD, with the mutations of another commit's source
//   npm run mutations -- --table …                         runs nothing; prints the mutations and what is known so far
//
// A mutation is tried
//   1. alone on the test files that are nearest to it by name and imports, up to the first failure;
//   2. together with the others that are left on every further file. A file that passes kills none of them; for one
//      that fails, the one that fails it is found by halves. Two mutations could hide each other: that is rare, and
//      the same for each tier.
// A failure counts if the same files pass without the mutation. Results are saved after each run of tests: started
// again, it goes on. Mutations that change no answer are judged by hand, in scripts/mutations/equivalent.json, and
// printed apart.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseMutations, type Mutation } from './mutations/choose.ts';
import { byNearness } from './mutations/nearness.ts';
import { runTests, type TestRun, testFiles } from './mutations/run-tests.ts';
import { type Outcome, printTable } from './mutations/table.ts';
import { commitOf, isIn, restore, treeOf, withMutations } from './mutations/tree.ts';

const { values } = parseArgs({
  options: {
    commit: { type: 'string', default: 'HEAD' },
    sites: { type: 'string' },
    projects: { type: 'string', default: 'fast' },
    seed: { type: 'string', default: '1' },
    folder: { type: 'string', default: join(tmpdir(), 'tapegraph-mutations') },
    /** Number of nearest files that a mutation is tried on alone. */
    near: { type: 'string', default: '3' },
    /** A command before each run of tests, such as one that waits for its turn on a shared machine. */
    through: { type: 'string', default: '' },
    table: { type: 'boolean', default: false },
  },
});

const jsonOf = (file: string) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null);
const save = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value, null, 1));

const tree = treeOf(commitOf(values.commit), values.folder);
const source = treeOf(commitOf(values.sites ?? values.commit), values.folder);
const runner = { tree, through: values.through.split(' ').filter(Boolean) };
const projects = values.projects.split(',');

const listFile = join(source, `../list-${values.seed}.json`);
if (!existsSync(listFile)) {
  restore(source);
  save(listFile, chooseMutations(source, Number(values.seed)));
}
const chosen: Mutation[] = jsonOf(listFile);

interface Results {
  outcomes: Record<string, Outcome>;
  /** Whether the files of a failed run (`project:file …`) pass without mutations. */
  sound: Record<string, boolean>;
}
const resultsFile = join(tree, `../${projects.join('-')}-${values.seed}.json`);
const results: Results = jsonOf(resultsFile) ?? { outcomes: {}, sound: {} };

const outcomeOf = ({ id }: Mutation): Outcome => {
  results.outcomes[id] ??= { passed: [] };
  return results.outcomes[id];
};
const left = () => chosen.filter((each) => isIn(tree, each) && !outcomeOf(each).killed);
/** Few, since a run that does not start or end is tried again file by file. */
const filesTogether = 20;
const keyOf = (project: string) => (file: string) => `${project}:${file}`;

/** Whether files pass in the tree as it is. */
async function isSound(project: string, files: string[]): Promise<boolean> {
  const key = `${project}:${files.join(' ')}`;
  results.sound[key] ??= (await runTests(runner, project, files, true)).failure === null;
  return results.sound[key];
}

function runWith(group: Mutation[], project: string, files: string[], bail = false): Promise<TestRun> {
  return withMutations(tree, group, () => runTests(runner, project, files, bail));
}

/** Runs files with one mutation until one of them fails for its sake. */
async function tryAlone(mutation: Mutation, project: string, files: string[]): Promise<void> {
  const outcome = outcomeOf(mutation);
  let rest = files.filter((file) => !outcome.passed.includes(keyOf(project)(file)));
  while (rest.length > 0 && !outcome.killed) {
    const run = await runWith([mutation], project, rest, true);
    if (run.failure && (await isSound(project, run.failed))) outcome.killed = { project, ...run.failure };
    // A file that fails without the mutation too says nothing of it.
    const done = run.failure ? run.failed : rest;
    outcome.passed.push(...done.map(keyOf(project)));
    rest = rest.filter((file) => !done.includes(file));
    save(resultsFile, results);
  }
  if (outcome.killed) console.log(`killed by ${outcome.killed.file || outcome.killed.test}: ${mutation.id}`);
}

/** Step 1. */
async function tryNear(project: string, files: string[]): Promise<void> {
  for (const mutation of left())
    await tryAlone(mutation, project, byNearness([mutation], tree, files).slice(0, Number(values.near)));
}

function credit(group: Mutation[], project: string, files: string[]): void {
  for (const each of group) outcomeOf(each).passed.push(...files.map(keyOf(project)));
  save(resultsFile, results);
}

/** Finds those of a group that a file kills, by halves. `fails` = with the whole group it is known to fail. */
async function divide(group: Mutation[], project: string, file: string, fails: boolean): Promise<void> {
  if (group.length === 1) return tryAlone(group[0]!, project, [file]);
  if (!fails && (await runWith(group, project, [file])).failure === null) return credit(group, project, [file]);
  const half = group.slice(0, group.length / 2);
  await divide(half, project, file, false);
  const isOther = half.every((each) => !outcomeOf(each).killed);
  await divide(group.slice(half.length), project, file, isOther);
}

/** Step 2. */
async function tryTogether(project: string, files: string[]): Promise<void> {
  const isOpen = (file: string) => left().some((each) => !outcomeOf(each).passed.includes(keyOf(project)(file)));
  const waiting = byNearness(left(), tree, files).filter(isOpen);
  while (waiting.length > 0 && left().length > 0) {
    const run = await runWith(left(), project, waiting.splice(0, filesTogether));
    credit(left(), project, run.passed);
    for (const [index, file] of run.failed.entries()) {
      if (await isSound(project, [file])) await divide(left(), project, file, index === 0 && run.failed.length === 1);
      else credit(left(), project, [file]);
      if (left().length === 0) break;
    }
    console.log(`${project}: ${waiting.length} files and ${left().length} mutations left`);
  }
}

if (!values.table) {
  // An exit ends the tests that run; the next start takes their mutation out.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  restore(tree);
  for (const project of projects) {
    const files = testFiles(runner, project);
    await tryNear(project, files);
    await tryTogether(project, files);
  }
}
printTable(chosen, results.outcomes);
