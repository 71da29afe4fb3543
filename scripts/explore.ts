// `npm run explore -- --minutes 10`: lives of fresh seeds on a gateway and on the model (test/model), compared after
// every command. A failure is shrunk to a script of files and commands. Exit code 1 = a failure.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { kept, live, shrunk } from '../test/model/explore.ts';
import { stepsOf } from '../test/model/life.ts';
import { openStores } from '../test/model/own-store.ts';
import { makeWorld } from '../test/model/world.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** Number of commands of a life. */
    commands: { type: 'string', default: '200' },
    /** Run commands in processes that are killed, now and then. */
    kills: { type: 'boolean', default: false },
    /** Kinds of commands, separated by commas; all if absent. */
    only: { type: 'string' },
    /** Continue after a failure, without shrinking it. */
    all: { type: 'boolean', default: false },
    /** End with a failure, without shrinking it. */
    quick: { type: 'boolean', default: false },
  },
});

const kinds = values.only?.split(',');
const { kills } = values;
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const { newStore, close } = await openStores();
const untilMs = Date.now() + Number(values.minutes) * 60_000;
const totals = { lives: 0, commands: 0, questions: 0, failures: 0 };
const seconds = new Map<string, number>();
try {
  for (let seed = Number(values.seed); Date.now() < untilMs && (values.all || totals.failures === 0); seed++) {
    const all = stepsOf(makeWorld(seed, kills), Number(values.commands));
    const steps = kinds ? all.filter(({ kind }) => kind === 'clock' || kinds.includes(kind)) : all;
    const lived = await live(seed, steps, { newStore, kills, untilMs });
    totals.lives++;
    totals.commands += lived.commands;
    totals.questions += lived.questions;
    for (const [kind, s] of lived.seconds) seconds.set(kind, (seconds.get(kind) ?? 0) + s);
    console.log(`seed ${seed}: ${lived.commands} commands, ${lived.questions} questions`);
    if (lived.failure === null) continue;
    totals.failures++;
    console.log(`seed ${seed}, commit ${commit}: ${lived.failure}`);
    if (values.all || values.quick) continue;
    const small = await shrunk(lived, { newStore, kills });
    console.log(`Shrunk to ${small.commands} commands.`);
    console.log(await kept(small, { newStore, kills }, mkdtempSync(join(tmpdir(), `tapegraph-seed-${seed}-`))));
  }
} finally {
  await close();
}
const costs = [...seconds].map(([kind, s]) => `${kind} ${s.toFixed(1)} s`);
console.log(
  `${totals.lives} lives, ${totals.commands} commands, ${totals.questions} questions, ${totals.failures} failures`,
);
console.log(`CPU of this process: ${costs.join(', ')}`);
process.exit(totals.failures > 0 ? 1 : 0);
