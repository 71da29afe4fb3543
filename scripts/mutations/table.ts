import { readFileSync } from 'node:fs';
import type { Mutation } from './choose.ts';
import type { Failure } from './run-tests.ts';

/** What is known of one mutation: what failed, or which files (`project:file`) passed with it. */
export interface Outcome {
  killed?: Failure & { project: string };
  passed: string[];
}

/** Why a mutation is judged to change nothing that a test could see, by id. */
const equivalent: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'),
);

type Verdict = 'killed' | 'survives' | 'equivalent' | 'not tried';

function verdictOf({ id }: Mutation, outcome: Outcome | undefined): Verdict {
  if (outcome?.killed) return 'killed';
  if (!outcome?.passed.length) return 'not tried';
  return Object.hasOwn(equivalent, id) ? 'equivalent' : 'survives';
}

/** Prints every mutation with what became of it, and the rate. */
export function printTable(chosen: readonly Mutation[], outcomes: Readonly<Record<string, Outcome>>): void {
  const count = { killed: 0, survives: 0, equivalent: 0, 'not tried': 0 };
  for (const each of chosen) {
    const outcome = outcomes[each.id];
    const verdict = verdictOf(each, outcome);
    count[verdict]++;
    console.log(`\n${verdict.padEnd(10)} ${each.area.padEnd(12)} ${each.id}`);
    if (outcome?.killed) console.log(`  ${outcome.killed.project}: ${outcome.killed.file} ${outcome.killed.test}`);
    else if (verdict === 'equivalent') console.log(`  ${equivalent[each.id]}`);
    else if (verdict === 'survives') console.log(`  ${outcome!.passed.length} files pass`);
  }
  const counted = count.killed + count.survives;
  const rate = counted === 0 ? '' : ` (${((100 * count.killed) / counted).toFixed(1)} %)`;
  const others = `equivalent: ${count.equivalent}, not tried: ${count['not tried']}`;
  console.log(`\n${count.killed} of ${counted} killed${rate}; ${others}.`);
}
