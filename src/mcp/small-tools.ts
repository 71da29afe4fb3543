import { invalidParameter } from '../platform/wire/failure.ts';
import { entryKinds } from './catalog.ts';
import { estimateTool } from './estimate-tool.ts';
import { graphqlTool } from './graphql-tool.ts';
import type { Tool } from './tools.ts';

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
