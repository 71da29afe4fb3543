import { readFileSync } from 'node:fs';
import type { Mutation } from './choose.ts';
import type { Failure } from './run-tests.ts';

/** State of one mutation: the failure, the files (`project:file`) that passed, and the finished projects. */
export interface Outcome {
  killed?: Failure & { project: string };
  passed: string[];
  finished: string[];
}

/** Why a mutation is judged to change nothing that a test could see, by id. */
const equivalent: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'),
);

/** True if a mutation is listed as one that no test could see. */
export const isEquivalent = ({ id }: Mutation) => Object.hasOwn(equivalent, id);

type Verdict = 'killed' | 'survives' | 'equivalent' | 'not tried' | 'gone';

function verdictOf(mutation: Mutation, outcome: Outcome | undefined, projects: readonly string[]): Verdict {
  if (outcome?.killed) return 'killed';
  if (isEquivalent(mutation)) return 'equivalent';
  return projects.every((project) => outcome?.finished.includes(project)) ? 'survives' : 'not tried';
}

/** Prints every mutation with its result, and the rate. `isHere` = its location is in the tree. */
export function printTable(
  chosen: readonly Mutation[],
  outcomes: Readonly<Record<string, Outcome>>,
  projects: readonly string[],
  isHere: (mutation: Mutation) => boolean,
): void {
  const count = { killed: 0, survives: 0, equivalent: 0, 'not tried': 0, gone: 0 };
  for (const each of chosen) {
    const outcome = outcomes[each.id];
    const verdict = isHere(each) ? verdictOf(each, outcome, projects) : 'gone';
    count[verdict]++;
    console.log(`\n${verdict.padEnd(10)} ${each.area.padEnd(12)} ${each.id}`);
    if (outcome?.killed) console.log(`  ${outcome.killed.project}: ${outcome.killed.file} ${outcome.killed.test}`);
    else if (verdict === 'equivalent') console.log(`  ${equivalent[each.id]}`);
    else if (verdict === 'survives') console.log(`  ${outcome!.passed.length} files reach it and pass`);
  }
  const counted = count.killed + count.survives;
  const rate = counted === 0 ? '' : ` (${((100 * count.killed) / counted).toFixed(1)} %)`;
  const others = `equivalent: ${count.equivalent}, gone: ${count.gone}, not tried: ${count['not tried']}`;
  console.log(`\n${count.killed} of ${counted} killed${rate}; ${others}.`);
}
