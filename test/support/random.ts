/** Random numbers that are reproducible by seed. */
export interface Random {
  /** A whole number in [0, below). */
  below(below: number): number;
  pick<T>(from: readonly T[]): T;
  /** True once in `of` times. */
  once(of: number): boolean;
}

/** Added to every seed; to look further than each run does: RANDOM_SEED=1. */
const offset = Number(process.env.RANDOM_SEED ?? 0);

/** A generator (mulberry32) that gives the same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = (seed + offset) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, pick: (from) => from[below(from.length)]!, once: (of) => below(of) === 0 };
}

/** Shuffles a list by a generator. */
export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}
