import { createHash } from 'node:crypto';
import {
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
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
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { Caller } from '../../access/caller.ts';
import { isSealed } from '../../core/domain/calendar.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import { isMarketGroup } from '../../core/domain/screener.ts';
import { responseKey } from '../../graphql/execution/document.ts';
import type { storedWeights } from '../../graphql/limits/weighed-operation.ts';
import { isOfClock, needsOf } from '../../schema/field-options.ts';
import { inlineSchema, ownEnvelope } from '../contract/answer-schema.ts';
import { type CompiledRoute, completeRoute } from '../contract/compiled-route.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import { type ReadOperation, storedOperation } from '../contract/operation.ts';
import { type Route, type RowSettings, routeRow } from '../contract/route.ts';
import {
  asOfSelection,
  changedAt,
  fieldNode,
  instantVariables,
  metaSelection,
  takesNothing,
} from '../contract/selection.ts';
import { leadingComment, readOwnDocument } from './document.ts';
import { ownParameters } from './parameters.ts';
import { namesIn, readPath } from './paths.ts';
import { FileProblem, SettingProblem } from './problems.ts';
import { nameOf, type SourceFile } from './route-files.ts';
import { wholeSelection } from './selection.ts';
import type { RouteSettings } from './settings.ts';

/** Dependencies of the operator's routes. */
export interface OwnParts {
  schema: GraphQLSchema;
  weigh: ReturnType<typeof storedWeights>;
  /** Names of the tools for AI clients that are no routes. */
  toolNames: readonly string[];
}

const pascalCase = (name: string) => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
const inWords = (name: string) => name.replaceAll('-', ' ').replace(/^\w/, (letter) => letter.toUpperCase());

const version = (...texts: string[]) => createHash('sha256').update(texts.join('\0')).digest('base64url').slice(0, 16);

const nothing: readonly never[] = [];

/** The same nodes without what is absent or empty: each route keeps its own. */
function compact<T>(node: T): T {
  if (Array.isArray(node)) return (node.length === 0 ? nothing : node.map(compact)) as T;
  if (typeof node !== 'object' || node === null) return node;
  const parts = Object.entries(node).filter(([, part]) => part !== undefined);
  return Object.fromEntries(parts.map(([name, part]) => [name, compact(part)])) as T;
}

/** The operation that a route runs: the operator's, complete in itself, with the metadata and the instant. */
function completeOperation(
  { schema }: OwnParts,
  { operation, variableDefinitions = [] }: OperationDefinitionNode,
  selectionSet: SelectionSetNode,
  { name, isWrapped }: { name: string; isWrapped: boolean },
): ReadOperation {
  const made: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation,
        name: { kind: Kind.NAME, value: `Own${pascalCase(name)}` },
        variableDefinitions: [...variableDefinitions, ...(isWrapped ? instantVariables(schema, 'whole') : [])],
        selectionSet,
      },
    ],
  };
  const source = `${print(made)}\n`;
  const parsed = parse(source, { noLocation: true });
  // Its tokens are charged.
  const document: DocumentNode = { ...compact(parsed), tokenCount: parsed.tokenCount };
  return { source, document, definition: document.definitions[0] as OperationDefinitionNode };
}

function valueAt(result: unknown, path: readonly string[]): unknown {
  let found = result;
  for (const key of path) found = (found as Record<string, unknown> | null | undefined)?.[key];
  return found ?? null;
}

/** Metadata of an answer that has none of its own. */
function plainMeta(
  result: Record<string, unknown>,
  { tier }: Caller,
  { instantKeys, nowMs }: { instantKeys: OwnAnswer['instantKeys']; nowMs: number },
): Record<string, unknown> {
  const { asOf } = result as { asOf?: Record<string, number | null> | null };
  const at = asOf?.[instantKeys.at] ?? null;
  const effective = asOf?.[instantKeys.atEffective] ?? null;
  const isPast = effective !== null && isSealed(exchangeDate(effective), nowMs);
  return { caps: { applied: [], tier }, plane: isPast ? 'archive' : 'live', at, at_effective: effective };
}

/** The fields that an operation selects, each once. */
function fieldsOf(schema: GraphQLSchema, document: DocumentNode): GraphQLField<unknown, unknown>[] {
  const found = new Set<GraphQLField<unknown, unknown>>();
  const types = new TypeInfo(schema);
  const visitor = {
    Field() {
      const field = types.getFieldDef();
      if (field) found.add(field);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  return [...found];
}

/** Finds the data and the metadata in a result. */
function finder({ dataPath, metaPath, isWrapped, instantKeys }: OwnAnswer): CompiledRoute['found'] {
  const hidden = new Set<string>();
  if (isWrapped && dataPath.length === 1) for (const key of Object.values(instantKeys)) hidden.add(key);
  if (metaPath && metaPath.length === dataPath.length + 1) hidden.add('meta');
  return (result, caller, nowMs) => {
    const value = valueAt(result, dataPath);
    const meta = metaPath && (valueAt(result, metaPath) as Record<string, unknown> | null);
    const isObject = hidden.size > 0 && typeof value === 'object' && value !== null;
    const data = isObject ? Object.fromEntries(Object.entries(value).filter(([key]) => !hidden.has(key))) : value;
    return { data, meta: meta ?? plainMeta(result, caller, { instantKeys, nowMs }) };
  };
}

function dataSchema({ schema }: OwnParts, read: ReadOperation, { data, isNullable }: OwnAnswer): JsonSchema {
  const described = inlineSchema(schema, read, data.type, data.selection);
  if (!isNullable) return described;
  const types = [described.type].flat();
  return types.includes('object') || types.includes('array')
    ? { ...described, type: [...new Set([...types, 'null'])] }
    : { anyOf: [described, { type: 'null' }] };
}

/** A subscription with its only field under the key `data`, as the stream reads it. */
function asStream({ selections, ...set }: SelectionSetNode, data: string | undefined): SelectionSetNode {
  const [field] = selections;
  if (field?.kind !== Kind.FIELD || selections.length > 1)
    throw new FileProblem('expected one field in a subscription', 1);
  const key = (field.alias ?? field.name).value;
  if (data !== undefined && data !== key)
    throw new SettingProblem('data', `of a subscription each event is the whole of ${key}`);
  return { ...set, selections: [{ ...field, alias: { kind: Kind.NAME, value: 'data' } }] };
}

/** Parts of the row of a route that come from its operation. */
interface RowParts {
  definition: OperationDefinitionNode;
  answer: OwnAnswer;
  groups: readonly string[];
  fields: readonly GraphQLField<unknown, unknown>[];
}

/** The row of the route table that an operator's files are. */
function rowOf(
  parts: OwnParts,
  file: SourceFile,
  settings: RouteSettings,
  { definition, answer, groups, fields }: RowParts,
): Route {
  const name = nameOf(file.name);
  const path = readPath(settings.path ?? `/own/${name}`);
  const { isWrapped } = answer;
  const about = { inPath: namesIn(path), name: pascalCase(name) };
  const { params, body, variableOf, variables, invalidVariables, example } = ownParameters(
    parts.schema,
    definition,
    settings,
    about,
  );
  const taken =
    isWrapped &&
    instantVariables(parts.schema, 'whole').find(({ variable }) => Object.hasOwn(params, variable.name.value));
  if (taken) throw new SettingProblem(`parameters.${taken.variable.name.value}`, 'is the instant of the route');
  const isMarket = groups.length > 0 && groups.every(isMarketGroup);
  const isCacheable = isMarket && settings.cache === 'sealed' && settings.method === 'GET';
  const sealed = isCacheable && !fields.some(isOfClock) ? answer.sealed : 'never';
  const row: RowSettings = {
    name,
    method: settings.method,
    path,
    summary: settings.summary ?? inWords(name),
    description: settings.description || leadingComment(file) || `Runs the document ${file.name}.`,
    scopeGroup: 'own',
    ...(!isMarket && { isOwn: true as const }),
    ...(body && { body }),
    operation: file.name,
    graphql: file.text,
    instant: isWrapped ? 'whole' : null,
    // A tool has one answer.
    ...(definition.operation === OperationTypeNode.SUBSCRIPTION && { withoutTool: 'in any mode' as const }),
    invalidVariables,
    example,
    errors: [400, 403, 404, 502, 503, ...(body ? [413, 415] : [])],
    own: {
      groups,
      needs: [...new Set(fields.map(needsOf))],
      tier: settings.tier,
      sealed,
      version: version(file.text, JSON.stringify(settings)),
      variableOf,
    },
  };
  return { ...routeRow(row, { params, variables }), aboutSessions: sealed !== 'never' };
}

/** Compiles a route of the operator. Throws the problems of its document and settings. */
export function ownRoute(parts: OwnParts, file: SourceFile, settings: RouteSettings): CompiledRoute {
  const { schema, weigh } = parts;
  const { document, definition } = readOwnDocument(schema, file, settings);
  const { operation, variableDefinitions = [] } = definition;
  const isStream = operation === OperationTypeNode.SUBSCRIPTION;
  const whole = wholeSelection(schema, document, definition);
  const own = isStream ? asStream(whole, settings.data) : whole;
  const variables = variableDefinitions.map(({ variable }) => variable.name.value);
  const answer = ownAnswer(schema, operation, own, { data: isStream ? 'data' : settings.data, variables });
  const name = nameOf(file.name);
  // A stream has no metadata: each event is the data alone.
  const selection = isStream ? own : answer.selection;
  const read = completeOperation(parts, definition, selection, { name, isWrapped: answer.isWrapped });
  const weighed = weigh(read.document, read.definition);
  const row = rowOf(parts, file, settings, {
    definition,
    answer,
    groups: weighed.groups,
    fields: fieldsOf(schema, read.document),
  });
  const data = dataSchema(parts, read, answer);
  const compiled = completeRoute(row, storedOperation(schema, row, read), {
    answer: isStream ? { properties: { data } } : ownEnvelope(schema, read, data, answer.meta),
    found: finder(answer),
  });
  return { ...compiled, weighed, ...(isStream && { stream: { ...read, key: `${name} ${row.own!.version}` } }) };
}

/** Answers of an operation: where its data and its metadata are, and which of them never change. */
interface OwnAnswer {
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
function ownAnswer(
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
