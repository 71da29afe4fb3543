// `npm run mutations`: how sharp the tests are. 60 small changes of the source, chosen by a seed over resolvers,
// entitlement, limits, codecs, analytics, ingest, contract and domain, are put in one at a time; each should fail a
// test. The tests run in a worktree of a commit, in a temporary folder: what is not committed is not measured.
//
//   npm run mutations -- --projects fast                   the tests of a tier, at HEAD
//   npm run mutations -- --commit v1 --projects a,b        the tests of another commit
//   npm run mutations -- --sites v1 --projects fast        at HEAD, with the mutations of another commit's source
//   npm run mutations -- --table …                         runs nothing; prints the mutations and what is known so far
//
// One run of all test files finds which of them reach which mutation. Each mutation is then tried on these, the nearest
// by name and imports first, up to the first failure, which counts if the same files pass without the mutation. A
// mutation that no file reaches survives. Results are saved after each run of tests: started again, it continues.
// Mutations that change no answer are judged by hand, in scripts/mutations/equivalent.json, and printed apart: they are
// tried on the nearest files only, as a check of the judgement.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chooseMutations, type Mutation, mutated } from './mutations/choose.ts';
import { byNearness } from './mutations/nearness.ts';
import { elsewhere, reachOf } from './mutations/reach.ts';
import { runTests, testFiles } from './mutations/run-tests.ts';
import { isEquivalent, type Outcome, printTable } from './mutations/table.ts';
import { commitOf, isIn, restore, treeOf, withTexts } from './mutations/tree.ts';

const { values } = parseArgs({
  options: {
    commit: { type: 'string', default: 'HEAD' },
    sites: { type: 'string' },
    projects: { type: 'string', default: 'fast' },
    seed: { type: 'string', default: '1' },
    folder: { type: 'string', default: join(tmpdir(), 'tapegraph-mutations') },
    /** Number of nearest files that a mutation is tried on first. */
    near: { type: 'string', default: '3' },
    /** A command before each run of tests, such as one that queues on a shared machine. */
    through: { type: 'string', default: '' },
    /** Number of test files that run at a time. */
    workers: { type: 'string', default: '1' },
    table: { type: 'boolean', default: false },
  },
});

const jsonOf = (file: string) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null);
const save = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value, null, 1));

const tree = treeOf(commitOf(values.commit), values.folder);
const source = treeOf(commitOf(values.sites ?? values.commit), values.folder);
const runner = { tree, through: values.through.split(' ').filter(Boolean), workers: values.workers };
const projects = values.projects.split(',');

const listFile = join(source, `../list-${values.seed}.json`);
if (!existsSync(listFile)) {
  restore(source);
  save(listFile, chooseMutations(source, Number(values.seed)));
}
const chosen: Mutation[] = jsonOf(listFile);

interface Results {
  /** By test file (`project:file`), the indexes of the mutations that it reaches. */
  reach: Record<string, number[]>;
  outcomes: Record<string, Outcome>;
  /** True if the files of a failed run (`project:file …`) pass without mutations. */
  sound: Record<string, boolean>;
}
const resultsFile = join(tree, `../${projects.join('-')}-${values.seed}.json`);
const results: Results = jsonOf(resultsFile) ?? { reach: {}, outcomes: {}, sound: {} };

/** Number of files in a run: an interrupted one is made again. */
const filesTogether = 40;
const keyOf = (project: string) => (file: string) => `${project}:${file}`;

/** Finds which mutations each file of a project reaches. */
async function findReach(project: string, files: string[]): Promise<void> {
  const isOpen = (file: string) => !results.reach[keyOf(project)(file)];
  for (let open = files.filter(isOpen); open.length > 0; open = open.slice(filesTogether)) {
    const reach = await reachOf(runner, project, open.slice(0, filesTogether), chosen);
    for (const [file, marks] of reach) {
      const key = keyOf(project)(file);
      results.reach[key] = [...new Set([...(results.reach[key] ?? []), ...marks])];
    }
    save(resultsFile, results);
    console.log(`${project}: the reach of ${Math.max(0, open.length - filesTogether)} files is left to find`);
  }
  const unknown = files.filter(isOpen);
  if (unknown.length > 0) throw new Error(`these do not start: ${unknown.join(' ')}`);
}

/** The files to try a mutation on, in this order: those that reach it, and all others if it is reached elsewhere. */
function filesThatReach(mutation: Mutation, project: string, files: string[]): string[] {
  const index = chosen.indexOf(mutation);
  const reaches = (file: string) => results.reach[keyOf(project)(file)]!.includes(index);
  const isElsewhere = results.reach[keyOf(project)(elsewhere)]?.includes(index);
  const others = isElsewhere ? files.filter((file) => !reaches(file)) : [];
  return [...byNearness(mutation, tree, files.filter(reaches)), ...byNearness(mutation, tree, others)];
}

/** True if files pass in the unchanged tree. */
async function isSound(project: string, files: string[]): Promise<boolean> {
  const key = `${project}:${files.join(' ')}`;
  results.sound[key] ??= (await runTests(runner, project, files, [])).failure === null;
  return results.sound[key];
}

/** Runs files with the mutation until one of them fails for its sake. */
async function tryOn(mutation: Mutation, project: string, files: string[], outcome: Outcome): Promise<void> {
  const text = mutated(readFileSync(join(tree, mutation.file), 'utf8'), mutation)!;
  let rest = files.filter((file) => !outcome.passed.includes(keyOf(project)(file)));
  while (rest.length > 0 && !outcome.killed) {
    const together = rest.slice(0, outcome.passed.length === 0 ? Number(values.near) : filesTogether);
    const run = await withTexts(tree, new Map([[mutation.file, text]]), () =>
      runTests(runner, project, together, ['--bail', '1']),
    );
    if (run.failure && (await isSound(project, run.failed))) outcome.killed = { project, ...run.failure };
    // A file that also fails without the mutation is no evidence.
    const done = run.failure ? run.failed : together;
    outcome.passed.push(...done.map(keyOf(project)));
    rest = rest.filter((file) => !done.includes(file));
    save(resultsFile, results);
  }
}

async function tryMutation(mutation: Mutation, project: string, reached: string[]): Promise<void> {
  results.outcomes[mutation.id] ??= { passed: [], finished: [] };
  const outcome = results.outcomes[mutation.id]!;
  const wanted = isEquivalent(mutation) ? reached.slice(0, Number(values.near)) : reached;
  await tryOn(mutation, project, wanted, outcome);
  if (!isEquivalent(mutation)) outcome.finished.push(project);
  save(resultsFile, results);
  const what = outcome.killed ? `killed by ${outcome.killed.file || outcome.killed.test}` : 'not killed';
  console.log(`${project}: ${what}: ${mutation.id}`);
}

function isOpen({ id }: Mutation, project: string): boolean {
  const outcome = results.outcomes[id];
  return !outcome?.killed && !outcome?.finished.includes(project);
}

const isHere = (mutation: Mutation) => isIn(tree, mutation);
if (!values.table) {
  // An exit ends the tests that run; the next start takes their mutation out.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  restore(tree);
  for (const project of projects) {
    const files = testFiles(runner, project);
    await findReach(project, files);
    const tries = chosen
      .filter((mutation) => isHere(mutation) && isOpen(mutation, project))
      .map((mutation) => ({ mutation, reached: filesThatReach(mutation, project, files) }));
    // Those with few files first: most of the outcomes are known early.
    tries.sort((a, b) => a.reached.length - b.reached.length);
    for (const { mutation, reached } of tries) await tryMutation(mutation, project, reached);
  }
}
printTable(chosen, results.outcomes, projects, isHere);
