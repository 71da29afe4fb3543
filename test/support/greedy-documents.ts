import fc from 'fast-check';
import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';

/**
 * Values for arguments, by `field.argument`, `field.argument.type of the field`, type or name; those of no value are
 * omitted. The market they are for is the test's own.
 */
export type ArgumentValues = Readonly<Record<string, readonly string[]>>;

/** A path through the graph to a type with values, and its selections. */
export interface Greed {
  /** Index of the path. */
  path: number;
  /** Numbers of aliases of the path's fields, from the last one up. */
  copies: readonly number[];
  /** Number of aliases of each value. */
  names: number;
  /** Values of the last type, at most. */
  values: number;
  /** Characters of each name. */
  nameLength: number;
  /** Requested number of rows: the maximum, none, or one. */
  rows: 'most' | 'usual' | 'one';
  /** Index of each argument's value. */
  argument: number;
  byExpiry: boolean;
  fragments: boolean;
  variables: boolean;
}

export interface Step {
  field: GraphQLField<unknown, unknown>;
  type: GraphQLNamedType;
}

const fieldsOf = (type: GraphQLNamedType) =>
  isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
const isList = ({ type }: GraphQLField<unknown, unknown>) => isListType(isNonNullType(type) ? type.ofType : type);

const deepestPath = 9;

/** Possible types of a field: its type, and the implementations of its interface. */
function typesOf({ type }: GraphQLField<unknown, unknown>): readonly GraphQLNamedType[] {
  const named = getNamedType(type);
  return isInterfaceType(named) ? [named, ...schema.getPossibleTypes(named)] : [named];
}

/** Every way from the root to a type with values, no type twice. */
function waysFrom(type: GraphQLNamedType, taken: readonly Step[]): Step[][] {
  const hasList = fieldsOf(type).some((field) => isList(field) && isLeafType(getNamedType(field.type)));
  const ways: Step[][] = hasList || taken.some(({ field }) => isList(field)) ? [[...taken]] : [];
  if (taken.length >= deepestPath) return ways;
  for (const field of fieldsOf(type)) {
    for (const next of typesOf(field)) {
      if (!isCompositeType(next) || taken.some((step) => step.type === next)) continue;
      ways.push(...waysFrom(next, [...taken, { field, type: next }]));
    }
  }
  return ways;
}

/** The ways through the graph on which there is a list. */
const ways: readonly (readonly Step[])[] = waysFrom(schema.getQueryType()!, []).filter((path) =>
  fieldsOf(path.at(-1)!.type).some(({ type }) => isLeafType(getNamedType(type))),
);

const byId = new Set(['node', 'nodes', 'refetch']);
const isById = (path: readonly Step[]) => byId.has(path[0]!.field.name);

/** The ways that begin at what they are about, and those that begin at an id. */
export const paths = ways.filter((path) => !isById(path));
export const pathsById = ways.filter(isById);

/** Values that a document may ask for, beside the fields that lead to them. */
const fieldsInAll = 400;

const rowArguments = new Set(['limit', 'first', 'topStrikes', 'top']);
const mostRows = 1_000_000;

/** Arguments of a step; each of its copies has another value where there are several. */
function argumentsOf(step: Step, greed: Greed, values: ArgumentValues, copy: number): string {
  const { name: field, args } = step.field;
  const given = args.flatMap(({ name, type }) => {
    const isNeeded = isNonNullType(type);
    if (rowArguments.has(name)) {
      if (greed.rows === 'one') return [`${name}: 1`];
      return isNeeded || greed.rows === 'most' ? [`${name}: ${greed.variables ? '$rows' : mostRows}`] : [];
    }
    if (name === 'byExpiry') return greed.byExpiry ? ['byExpiry: true'] : [];
    const possible =
      values[`${field}.${name}.${step.type.name}`] ??
      values[`${field}.${name}`] ??
      values[getNamedType(type).name] ??
      values[name] ??
      [];
    if (possible.length === 0) return [];
    return isNeeded || greed.argument % 2 === 0
      ? [`${name}: ${possible[(greed.argument + copy) % possible.length]}`]
      : [];
  });
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

const nameOf = (prefix: string, index: number, length: number) => `${prefix}${index}`.padEnd(length, '_');

/** The document that a greed asks; over a limit where it asks for too much. */
export function documentOf(greeds: readonly Greed[], values: ArgumentValues, among = paths): string {
  const fragments: string[] = [];
  const roots = greeds.map((greed, root) => {
    const path = among[greed.path % among.length]!;
    const last = path.at(-1)!.type;
    const leaves = fieldsOf(last).filter(({ type, args }) => isLeafType(getNamedType(type)) && args.length === 0);
    const asked = leaves.slice(0, greed.values);
    // As many aliases as the limit of fields allows.
    const places = greed.copies.slice(0, path.length).reduce((product, copies) => product * copies, 1);
    const room = Math.floor(fieldsInAll / (greeds.length * places * asked.length));
    const names = Math.max(1, Math.min(greed.names, room));
    let below = asked
      .flatMap(({ name }, leaf) =>
        Array.from({ length: names }, (_, i) => `${nameOf(`v${leaf}x`, i, greed.nameLength)}:${name}`),
      )
      .join(' ');
    let type = last;
    for (const [up, step] of [...path].reverse().entries()) {
      const { field } = step;
      const parent = path.at(-2 - up)?.type ?? schema.getQueryType()!;
      if (greed.fragments) {
        const fragment = `F${fragments.length}`;
        fragments.push(`fragment ${fragment} on ${type.name} { ${below} }`);
        below = `...${fragment}`;
      }
      if (getNamedType(field.type) !== step.type) below = `...on ${step.type.name} { ${below} }`;
      const set = below;
      below = Array.from({ length: greed.copies[up] ?? 1 }, (_, i) => {
        const name = nameOf(`f${root}x${up}x`, i, greed.nameLength);
        return `${name}:${field.name}${argumentsOf(step, greed, values, i)} { ${set} }`;
      }).join(' ');
      type = parent;
    }
    return below;
  });
  const text = `${roots.join(' ')} } ${fragments.join(' ')}`;
  return `query Greedy${text.includes('$rows') ? `($rows: Int! = ${mostRows})` : ''} { ${text}`;
}

const few = fc.constantFrom(1, 1, 1, 1, 2, 5, 20);

/** A path with its selections. */
const greed: fc.Arbitrary<Greed> = fc.record({
  path: fc.nat(paths.length - 1),
  copies: fc.array(few, { minLength: 1, maxLength: 4 }),
  names: fc.constantFrom(1, 1, 3, 10, 50, 100),
  values: fc.constantFrom(1, 3, 20),
  nameLength: fc.constantFrom(1, 1, 8, 60),
  rows: fc.constantFrom('most' as const, 'usual' as const, 'one' as const),
  argument: fc.nat(7),
  byExpiry: fc.boolean(),
  fragments: fc.boolean(),
  variables: fc.boolean(),
});

/** Documents of one way through the graph, or of some. */
export const greedyDocuments = fc.array(greed, { minLength: 1, maxLength: 3 });

/** The same greed, changed in one thing. */
export function changed(greeds: readonly Greed[], by: Greed, what: number): Greed[] {
  const keys = Object.keys(by) as (keyof Greed)[];
  const at = what % greeds.length;
  const key = keys[what % keys.length]!;
  return greeds.map((each, index) => (index === at ? { ...each, [key]: by[key] } : each));
}
