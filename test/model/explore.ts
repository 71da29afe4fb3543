// Explores lives of seeds, and shrinks the first that fails.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestStore } from '../support/store.ts';
import { Gateway } from './gateway.ts';
import { Differs, firstInstant, Life, type Step } from './life.ts';
import { hashOf, makeWorld } from './world.ts';

/** Makes an empty store, dropped when it is closed. */
export type NewStore = () => Promise<TestStore>;

/** End of a life. */
export interface Lived {
  seed: number;
  steps: readonly Step[];
  commands: number;
  questions: number;
  /** Null if it ended well. */
  failure: string | null;
  script: readonly string[];
  /** CPU seconds of this process by kind of step. */
  seconds: ReadonlyMap<string, number>;
}

export interface LifeOptions {
  newStore: NewStore;
  /** True if its world kills processes. */
  kills?: boolean;
  /** Instant to end at, by `Date.now()`. */
  untilMs?: number;
  /** Folder of the written files, which stay; a temporary one if absent. */
  folder?: string;
  /** Number of questions at the end; 200 if absent. */
  atEnd?: number;
}

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** Lives a life of some steps, with questions after each, and at its end. */
export async function live(seed: number, steps: readonly Step[], options: LifeOptions): Promise<Lived> {
  const { newStore, untilMs = Infinity } = options;
  const world = makeWorld(seed, options.kills);
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'tapegraph-model-'));
  const gateway = await Gateway.open(await newStore(), firstInstant(world));
  const life = new Life(world, gateway, folder);
  const seconds = new Map<string, number>();
  const timed = async (name: string, work: Promise<void>) => {
    const before = cpu();
    await work;
    seconds.set(name, (seconds.get(name) ?? 0) + cpu() - before);
  };
  let failure: string | null = null;
  try {
    for (const step of steps) {
      if (Date.now() > untilMs) break;
      await timed(step.kind, life.take(step));
      await timed('questions', life.ask(10, step.asked));
    }
    if (Date.now() < untilMs) await timed('questions', life.ask(options.atEnd ?? 200, hashOf(`${seed} end`)));
  } catch (error) {
    if (!(error instanceof Differs)) failure = `${(error as Error).stack}`;
    else failure = error.message;
  } finally {
    await gateway.close();
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
  const { commands, questions, script } = life;
  return { seed, steps, commands, questions, failure, script, seconds };
}

/** A failure without what differs from life to life. */
const kindOf = ({ failure }: Lived) => failure?.split(/[\d"?:]/)[0];

/** The fewest steps found, within some tries, that still fail: chunks of them are omitted, large ones first. */
export async function shrunk(lived: Lived, options: LifeOptions, tries = 60): Promise<Lived> {
  let best = lived;
  // Later steps did not happen; a failure at the end has all of them.
  let steps = lived.steps.slice(0, lived.commands);
  let left = tries;
  for (let size = Math.ceil(steps.length / 2); size >= 1 && left > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = Math.max(0, steps.length - 1 - size); left > 0; from -= size) {
      const fewer = steps.filter((_, i) => i < Math.max(0, from) || i >= from + size);
      left--;
      const again = await live(lived.seed, fewer, { ...options, atEnd: 20 });
      if (again.failure !== null && kindOf(again) === kindOf(lived)) {
        best = again;
        steps = fewer.slice(0, again.commands);
      }
      if (from <= 0) break;
    }
  }
  return best;
}

/** Lives the steps of a failure again, and leaves its files and script in a folder. Returns the text to print. */
export async function kept(lived: Lived, options: LifeOptions, folder: string): Promise<string> {
  const again = await live(lived.seed, lived.steps.slice(0, lived.commands), { ...options, folder, atEnd: 20 });
  const script = ['#!/bin/sh', 'set -x', ...again.script, `# ${again.failure ?? lived.failure}`];
  writeFileSync(join(folder, 'script.sh'), script.join('\n'));
  return `${lived.failure}\n\n  ${again.script.join('\n  ')}\n\nThe files and the script are in ${folder}.`;
}
