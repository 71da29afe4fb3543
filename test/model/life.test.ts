// Twenty seconds of lives on a gateway and on the model, seeded by the commit. `npm run explore` looks further.
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { hasSharedData } from '../support/shared-data.ts';
import { testStore } from '../support/store.ts';
import { live, shrunk } from './explore.ts';
import { stepsOf } from './life.ts';
import { hashOf, makeWorld } from './world.ts';

const seconds = Number(process.env.MODEL_SECONDS ?? 20);

/** The commit's hash; of a tree without git, one for all. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'no commit';
  }
}

// The calendar and the conditions of the model are those of the real data.
describe.runIf(hasSharedData)('the model', () => {
  test('a gateway answers as the model does, after every command of its life', { timeout: 600_000 }, async () => {
    const untilMs = Date.now() + seconds * 1000;
    const first = hashOf(process.env.MODEL_SEED ?? commit()) % 1_000_000;
    for (let seed = first; Date.now() < untilMs; seed++) {
      const lived = await live(seed, stepsOf(makeWorld(seed), 60), { newStore: testStore, untilMs });
      const small = lived.failure === null ? lived : await shrunk(lived, { newStore: testStore }, 20);
      const script = [...small.script, `npm run explore -- --seed ${seed} --commands 60`].join('\n');
      expect(small.failure && `${small.failure}\n${script}`).toBeNull();
    }
  });
});
