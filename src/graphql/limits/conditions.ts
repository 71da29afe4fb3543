import { type DirectiveNode, Kind, type SelectionNode } from 'graphql';

/** Condition of a selection by `@skip` and `@include`: it is included while a variable has a value. */
export interface Condition {
  variable: string;
  is: boolean;
}

function conditionOf({ name, arguments: args = [] }: DirectiveNode): Condition | boolean {
  if (name.value !== 'skip' && name.value !== 'include') return true;
  const wanted = name.value === 'include';
  const value = args.find((argument) => argument.name.value === 'if')?.value;
  if (value?.kind === Kind.VARIABLE) return { variable: value.name.value, is: wanted };
  return value?.kind !== Kind.BOOLEAN || value.value === wanted;
}

/** The conditions of a selection, all of which must hold; null if it is never included. */
export function conditionsOf({ directives = [] }: SelectionNode): Condition[] | null {
  const found = directives.map(conditionOf);
  if (found.includes(false)) return null;
  return found.filter((condition) => typeof condition === 'object');
}

/** True if one of several sets of conditions holds as a whole. */
export function anyHolds(sets: readonly Condition[][], variables: Readonly<Record<string, unknown>>): boolean {
  return sets.some((set) => set.every(({ variable, is }) => variables[variable] === is));
}
