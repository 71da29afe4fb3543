import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
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
import { isMarketGroup } from '../../core/domain/market-group.ts';
import { exchangeDate } from '../../core/domain/market-time.ts';
import type { storedWeights } from '../../graphql/limits/weighed-operation.ts';
import { needsOf } from '../../schema/needs.ts';
import { isOfClock } from '../../schema/reads-clock.ts';
import { inlineSchema, ownEnvelope } from '../contract/answer-schema.ts';
import { type CompiledRoute, completeRoute } from '../contract/compiled-route.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import { type ReadOperation, storedOperation } from '../contract/operation.ts';
import { type Route, type RowSettings, routeRow } from '../contract/route.ts';
import { instantVariables } from '../contract/selection.ts';
import { type OwnAnswer, ownAnswer } from './answer.ts';
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
    ...{ definition, answer, groups: weighed.groups },
    fields: fieldsOf(schema, read.document),
  });
  const data = dataSchema(parts, read, answer);
  const compiled = completeRoute(row, storedOperation(schema, row, read), {
    answer: isStream ? { properties: { data } } : ownEnvelope(schema, read, data, answer.meta),
    found: finder(answer),
  });
  return { ...compiled, weighed, ...(isStream && { stream: { ...read, key: `${name} ${row.own!.version}` } }) };
}
