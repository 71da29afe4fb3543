import {
  type ASTNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { responseKey } from '../../graphql/execution/document.ts';
import { asOfSelection, changedAt, fieldNode, metaSelection, takesNothing } from '../contract/selection.ts';
import { FileProblem, SettingProblem } from './problems.ts';

/** Answers of an operation: where its data and its metadata are, and which of them never change. */
export interface OwnAnswer {
  /** The whole selection, with the metadata added. */
  selection: SelectionSetNode;
  /** Response keys that lead to the data. */
  dataPath: readonly string[];
  /** The data's selection and type. */
  data: { type: GraphQLOutputType; selection: SelectionSetNode | undefined };
  /** True if an object above the data may be null. */
  isNullable: boolean;
  /** Response keys that lead to the object with `meta`; null = its operation has none on the way to the data. */
  metaPath: readonly string[] | null;
  meta: { type: GraphQLObjectType; selection: SelectionSetNode };
  sealed: 'by-meta' | 'as-of';
  /** True if the operation reads the market as of an instant that each request names. */
  isWrapped: boolean;
  /** Keys of that instant below `asOf`, which are no part of the data. */
  instantKeys: { at: string; atEffective: string };
}

/** An object on the way to the data. */
interface Step {
  path: readonly string[];
  type: GraphQLObjectType;
  selection: SelectionSetNode;
}

/** The type of an object's `meta`; null if it has none. */
function metaType(schema: GraphQLSchema, type: GraphQLObjectType): GraphQLObjectType | null {
  const field = type.getFields().meta;
  const found = field && takesNothing(field) ? getNamedType(field.type) : null;
  const isMeta = isObjectType(found) && found.getInterfaces().includes(schema.getType('ResponseMeta') as never);
  return isMeta ? found : null;
}

const keysOf = ({ selections }: SelectionSetNode) =>
  selections.flatMap((node) => (node.kind === Kind.FIELD ? [responseKey(node)] : []));

function requireOnly({ selections }: SelectionSetNode, key: string, at: string): void {
  const other = selections.find((node) => node.kind !== Kind.FIELD || ![key, 'meta'].includes(responseKey(node)));
  if (!other) return;
  const what = other.kind === Kind.FIELD ? responseKey(other) : 'a fragment';
  throw new SettingProblem('data', `${at} leaves out ${what}, which the operation selects; select only what is in it`);
}

/** The objects on the way to the data, the root first, and the field that is the data; null = the root's whole. */
function stepsTo(root: Step, path: readonly string[], written: string): { steps: Step[]; last: FieldNode | null } {
  const steps = [root];
  let last: FieldNode | null = null;
  for (const [index, key] of path.entries()) {
    const { type, selection, path: above } = steps.at(-1)!;
    const node = selection.selections.find((each) => each.kind === Kind.FIELD && responseKey(each) === key);
    if (node?.kind !== Kind.FIELD) {
      const keys = keysOf(selection).join(', ') || 'nothing';
      throw new SettingProblem(
        'data',
        `${written}: there is no ${key}; ${above.join('.') || 'the operation'} has ${keys}`,
      );
    }
    requireOnly(selection, key, written);
    last = node;
    const below = getNullableType(type.getFields()[node.name.value]!.type);
    const isLast = index === path.length - 1;
    if (isObjectType(below)) steps.push({ path: [...above, key], type: below, selection: node.selectionSet! });
    else if (!isLast)
      throw new SettingProblem('data', `${written}: ${key} is ${isListType(below) ? 'a list' : String(below)}`);
  }
  return { steps, last };
}

/** Types whose objects are an error where they are missing, never null. */
const neverNull = new Set(['Symbol', 'AsOf']);

function isNullableAbove(steps: readonly Step[], last: FieldNode | null): boolean {
  return steps.some(({ type, path }, index) => {
    const [above, key] = [steps[index - 1], path.at(-1)];
    const node = above?.selection.selections.find((each) => each.kind === Kind.FIELD && responseKey(each) === key);
    if (!above || node?.kind !== Kind.FIELD || node === last) return false;
    return !isNonNullType(above.type.getFields()[node.name.value]!.type) && !neverNull.has(type.name);
  });
}

/** True for a symbol, a contract and the like, which have an id: their fields read further data. */
const leadsElsewhere = (type: GraphQLObjectType) =>
  type.getInterfaces().some(({ name }) => name === 'Node' || name === 'Refetchable') &&
  Object.values(type.getFields()).some(({ extensions }) => extensions.scopeGroup !== undefined);

/** True if all below is of the answer at hand, without a field that reads something else. */
function isPlain(type: GraphQLObjectType, { selections }: SelectionSetNode): boolean {
  return selections.every((node) => {
    if (node.kind !== Kind.FIELD) return false;
    const field = type.getFields()[node.name.value];
    if (!field || responseKey(node) === 'meta') return true;
    if (field.args.length > 0 || field.extensions.scopeGroup !== undefined) return false;
    const below = getNamedType(field.type);
    if (isLeafType(below)) return true;
    if (!isObjectType(below) || leadsElsewhere(below)) return false;
    return isPlain(below, node.selectionSet!);
  });
}

/** Throws for another field under the key of the metadata, which would be swallowed. */
function requireOwnMeta({ selections }: SelectionSetNode): void {
  for (const node of selections)
    if (node.kind === Kind.FIELD && node.alias?.value === 'meta' && node.name.value !== 'meta')
      throw new FileProblem(
        `meta is the key of the answer's metadata; give ${node.name.value} another alias`,
        node.loc?.startToken.line ?? null,
      );
}

const withoutMeta = ({ selections, ...set }: SelectionSetNode): SelectionSetNode => ({
  ...set,
  selections: selections.filter((node) => node.kind !== Kind.FIELD || responseKey(node) !== 'meta'),
});

/** Keys of the instant that an answer without metadata of its own is as of: ones that its operation does not use. */
function instantKeysBeside(set: SelectionSetNode): OwnAnswer['instantKeys'] {
  const taken = new Set(keysOf(set));
  const free = (key: string): string => (taken.has(key) ? free(`${key}_`) : key);
  return { at: free('as_of_at'), atEffective: free('as_of_at_effective') };
}

/** The selection below `asOf`, whose instant is that of the request, and is read too. */
function wrapped({ selections, ...set }: SelectionSetNode, instantKeys: OwnAnswer['instantKeys']): SelectionSetNode {
  const instant = Object.entries(instantKeys).map(([name, key]) => fieldNode(name, key));
  return asOfSelection({ ...set, selections: [...selections, ...instant] }, 'whole');
}

/** True if an operation can be read as of an instant: it selects the market alone, and names no instant itself. */
function canBeWrapped(
  schema: GraphQLSchema,
  operation: OperationTypeNode,
  { selections }: SelectionSetNode,
  variables: readonly string[],
): boolean {
  const asOf = schema.getType('AsOf') as GraphQLObjectType;
  const { args } = schema.getQueryType()!.getFields().asOf!;
  if (operation !== OperationTypeNode.QUERY || args.some(({ name }) => variables.includes(name))) return false;
  return selections.every(
    (node: ASTNode) => node.kind === Kind.FIELD && Object.hasOwn(asOf.getFields(), node.name.value),
  );
}

/** Finds the data and its metadata in the selection of an operation. `data` is the setting; absent = all of it. */
export function ownAnswer(
  schema: GraphQLSchema,
  operation: OperationTypeNode,
  own: SelectionSetNode,
  { data, variables }: { data: string | undefined; variables: readonly string[] },
): OwnAnswer {
  const isWrapped = canBeWrapped(schema, operation, own, variables);
  const rootType = isWrapped ? (schema.getType('AsOf') as GraphQLObjectType) : schema.getRootType(operation)!;
  const { steps, last } = stepsTo({ path: [], type: rootType, selection: own }, data?.split('.') ?? [], data ?? '');
  const bearing = steps.findLast(({ type }) => metaType(schema, type));
  const meta = bearing ? metaType(schema, bearing.type)! : (schema.getType('PlainMeta') as GraphQLObjectType);
  const selected = metaSelection(meta);
  const withMeta = (set: SelectionSetNode): SelectionSetNode => {
    const node = { ...fieldNode('meta', 'meta'), selectionSet: selected };
    return { ...set, selections: [...withoutMeta(set).selections, node] };
  };
  const instantKeys = instantKeysBeside(own);
  if (bearing) requireOwnMeta(bearing.selection);
  const added = bearing ? changedAt(rootType, own, bearing.path, (_type, set) => withMeta(set)) : own;
  const prefix = isWrapped ? ['asOf'] : [];
  const bottom = steps.at(-1)!;
  const type = last ? bottomType(steps, last) : rootType;
  const selection = last ? last.selectionSet && withoutOwnMeta(last.selectionSet, bottom === bearing) : own;
  return {
    selection: isWrapped ? wrapped(added, instantKeys) : added,
    dataPath: [...prefix, ...(data?.split('.') ?? [])],
    data: { type, selection },
    isNullable: isNullableAbove(steps, last),
    metaPath: bearing ? [...prefix, ...bearing.path, 'meta'] : null,
    meta: { type: meta, selection: selected },
    sealed: bearing && isPlain(bearing.type, bearing.selection) ? 'by-meta' : 'as-of',
    isWrapped,
    instantKeys,
  };
}

const withoutOwnMeta = (set: SelectionSetNode, isBearing: boolean) => (isBearing ? withoutMeta(set) : set);

/** The type of the field that is the data. */
function bottomType(steps: readonly Step[], last: FieldNode): GraphQLOutputType {
  const parent = steps.findLast(({ selection }) => selection.selections.includes(last))!;
  return parent.type.getFields()[last.name.value]!.type;
}
