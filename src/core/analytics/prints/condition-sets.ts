/** Lists of condition ids, each stored once with a small number. */
export interface ConditionSets {
  indexOf(conditions: readonly number[]): number;
  at(index: number): readonly number[];
}

/** Creates an empty collection of at most 65,536 different lists, far above what tapes use. */
export function createConditionSets(): ConditionSets {
  const sets: (readonly number[])[] = [[]];
  const single: number[] = [];
  const longer = new Map<string, number>();

  function add(conditions: readonly number[]): number {
    if (sets.length === 65_536) throw new RangeError('more than 65,536 different lists of conditions');
    sets.push([...conditions]);
    return sets.length - 1;
  }

  return {
    indexOf(conditions) {
      if (conditions.length === 0) return 0;
      if (conditions.length === 1) {
        const id = conditions[0]!;
        const known = single[id];
        if (known !== undefined) return known;
        single[id] = add(conditions);
        return single[id]!;
      }
      const key = conditions.join();
      const known = longer.get(key) ?? add(conditions);
      longer.set(key, known);
      return known;
    },
    at: (index) => sets[index]!,
  };
}
