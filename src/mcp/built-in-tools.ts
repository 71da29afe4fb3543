import { type ExecutionResult, type GraphQLError, Kind, parse } from 'graphql';
import { type Failure, invalidParameter, sentFailure } from '../platform/wire/failure.ts';
import { entryKinds } from './catalog.ts';
import { answered, failed, type ToolResult } from './results.ts';
import { listItems, type Tool } from './tools.ts';

/** A document to be estimated. */
export interface EstimatedOperation {
  query: string;
  variables: Record<string, unknown>;
  operationName: string | null;
  sentPoints: number;
}

/** The tool that says what a document would cost, before the tool `graphql` runs it. */
export const estimateTool: Tool = {
  name: 'estimate',
  title: 'Estimate a query',
  description:
    'Returns what a GraphQL document would cost, by field: points and requests at most and as expected, which argument bounds each list, and the errors that it would have. Runs nothing and takes no requests.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'A GraphQL document.' },
      variables: { type: 'object', description: 'Values of the document’s variables.' },
      operation_name: { type: 'string', description: 'The operation, if the document has several.' },
    },
    required: ['query'],
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** Runs the tool; `estimate` estimates the document for the caller. */
export async function estimateGraph(
  sent: Record<string, unknown>,
  estimate: (operation: EstimatedOperation) => Promise<object>,
): Promise<ToolResult> {
  const { query, variables, operation_name: operationName = null } = sent;
  if (typeof query !== 'string' || query === '') throw invalidParameter('query', 'is required');
  if (operationName !== null && typeof operationName !== 'string')
    throw invalidParameter('operation_name', 'expected text');
  const operation = { query, variables: requireVariables(variables), operationName: operationName || null };
  return answered(await estimate({ ...operation, sentPoints: 0 }), listItems.usual);
}

/** The tool that queries the graph, for questions that no single route answers. */
export const graphqlTool: Tool = {
  name: 'graphql',
  title: 'Query the graph',
  description:
    'Runs a GraphQL query: several symbols, or several datasets of a symbol, in one call. The resource tapegraph://schema.graphql has the fields and their units. Queries only. Lists are truncated as in the other tools.',
  inputSchema: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        description: 'A GraphQL document with one query operation.',
        examples: [
          '{ symbol(symbol: "SPY") { quote { spot changePct } gex { latest(topStrikes: 5) { netGex flipPoint } } } }',
        ],
      },
      variables: { type: 'object', description: 'Values of the query’s variables.' },
      max_items: {
        type: 'integer',
        minimum: 1,
        maximum: listItems.most,
        default: listItems.usual,
        description: 'Maximum items per list. The answer reports what was omitted.',
      },
    },
    required: ['query'],
  },
  annotations: {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
};

/** Throws 400 for a document that is not a query. The graph rejects documents that do not parse. */
function requireQuery(document: string): void {
  // Only mutations and subscriptions begin with these words; the graph parses the document itself.
  if (!/mutation|subscription/.test(document)) return;
  let definitions: ReturnType<typeof parse>['definitions'];
  try {
    definitions = parse(document, { maxTokens: 2000 }).definitions;
  } catch {
    return;
  }
  for (const definition of definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION && definition.operation !== 'query')
      throw invalidParameter('query', `expected a query, got a ${definition.operation}; use the tool for that change`);
  }
}

/** The variables of a document. Throws 400. */
function requireVariables(variables: unknown = {}): Record<string, unknown> {
  if (typeof variables === 'object' && variables !== null && !Array.isArray(variables))
    return variables as Record<string, unknown>;
  throw invalidParameter('variables', 'expected an object');
}

/** The failure of an answer without data, from its first error as it was sent. */
function failureOfAnswer(error: GraphQLError | undefined): Failure {
  const { code = 'internal', details } = (error?.extensions ?? {}) as Partial<Pick<Failure, 'code' | 'details'>>;
  return sentFailure({ code, message: error?.message ?? 'The graph returned no answer.', details });
}

/** Runs the tool; `ask` sends the document to the graph's own endpoint, as the caller. */
export async function askGraph(
  sent: Record<string, unknown>,
  ask: (query: string, variables: Record<string, unknown>) => Promise<ExecutionResult>,
): Promise<ToolResult> {
  const { query, max_items: maxItems = listItems.usual } = sent;
  if (typeof query !== 'string' || query === '') throw invalidParameter('query', 'is required');
  const variables = requireVariables(sent.variables);
  if (!Number.isInteger(maxItems) || Number(maxItems) < 1 || Number(maxItems) > listItems.most)
    throw invalidParameter('max_items', `expected a whole number from 1 to ${listItems.most}`);
  requireQuery(query);
  const { data, errors } = await ask(query, variables);
  if (!data) return failed(failureOfAnswer(errors?.[0]));
  return answered({ data, ...(errors && { errors }) }, Number(maxItems));
}

/** Number of results of a search, and characters of what is searched for or described. */
const results = { usual: 8, most: 25 };
const mostCharacters = 200;

const reads: Tool['annotations'] = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Finds what the other tools run. */
export const searchTool: Tool = {
  name: 'search',
  title: 'Search',
  description:
    'Finds operations, types and fields of the graph, and sections of the methodology by words, such as "dealer gamma by strike". Returns names for describe.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', maxLength: mostCharacters, description: 'Words.' },
      kind: { type: 'string', enum: [...entryKinds], description: 'Only results of this kind.' },
      limit: { type: 'integer', minimum: 1, maximum: results.most, default: results.usual },
    },
    required: ['query'],
  },
  annotations: reads,
};

/** Describes one result of a search. */
export const describeTool: Tool = {
  name: 'describe',
  title: 'Describe',
  description:
    'Describes one result of search: the arguments, the answer and an example of an operation, the SDL of a type, the arguments of a field, or the text of a section.',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string', maxLength: mostCharacters, description: 'A name that search returned.' } },
    required: ['name'],
  },
  annotations: reads,
};

const running: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    operation: { type: 'string', description: 'The name of an operation.', examples: ['quotes'] },
    arguments: {
      type: 'object',
      description: 'Its arguments, as describe lists them.',
      examples: [{ symbols: 'SPY,QQQ' }],
    },
  },
  required: ['operation'],
};

/** Runs an operation that reads. */
export const runTool: Tool = {
  name: 'run',
  title: 'Run an operation',
  description: 'Runs an operation that reads, and returns its answer: data and meta.',
  inputSchema: running,
  annotations: reads,
};

/** Runs an operation that changes something. */
export const changeTool: Tool = {
  name: 'change',
  title: 'Change something',
  description: 'Runs an operation that creates, changes or deletes something of the account.',
  inputSchema: running,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
};

/** The tools of the small mode, beside `graphql` and `estimate`. */
export const smallTools: readonly Tool[] = [
  searchTool,
  describeTool,
  runTool,
  changeTool,
  {
    ...graphqlTool,
    description:
      'Runs a GraphQL query: several symbols, or several datasets of a symbol, in one call. Find fields with search and describe. Queries only.',
  },
  estimateTool,
];

function textOf(sent: Record<string, unknown>, name: string): string {
  const value = sent[name];
  if (typeof value !== 'string' || value.trim() === '') throw invalidParameter(name, 'is required');
  if (value.length > mostCharacters) throw invalidParameter(name, `expected at most ${mostCharacters} characters`);
  return value;
}

/** Throws 400 for an argument that a tool does not have. */
function requireKnown({ inputSchema }: Tool, sent: Record<string, unknown>): void {
  const known = Object.keys(inputSchema.properties);
  for (const name of Object.keys(sent))
    if (!known.includes(name))
      throw invalidParameter(name, `is not an argument of this tool; expected one of ${known.join(', ')}`);
}

/** Arguments of a search. Throws 400. */
export function searchArguments(sent: Record<string, unknown>) {
  requireKnown(searchTool, sent);
  const { kind = null, limit = results.usual } = sent;
  if (kind !== null && !entryKinds.includes(kind as never))
    throw invalidParameter('kind', `expected one of ${entryKinds.join(', ')}`);
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > results.most)
    throw invalidParameter('limit', `expected a whole number from 1 to ${results.most}`);
  return { query: textOf(sent, 'query'), kind: kind as (typeof entryKinds)[number] | null, limit: Number(limit) };
}

/** The name that is to be described. Throws 400. */
export function describedName(sent: Record<string, unknown>): string {
  requireKnown(describeTool, sent);
  return textOf(sent, 'name');
}

/** The operation that is to be run, and its arguments. Throws 400. */
export function runArguments(sent: Record<string, unknown>) {
  requireKnown(runTool, sent);
  const { arguments: given = {} } = sent;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalidParameter('arguments', 'expected an object');
  return { operation: textOf(sent, 'operation'), given: given as Record<string, unknown> };
}

/** The tools that stand beside those of the routes: no route may have the name of one. */
export const builtInTools: readonly Tool[] = [graphqlTool, estimateTool];
