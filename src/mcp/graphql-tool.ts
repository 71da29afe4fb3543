import { type ExecutionResult, type GraphQLError, Kind, parse } from 'graphql';
import { type Failure, invalidParameter, sentFailure } from '../platform/wire/failure.ts';
import { answered, failed, type ToolResult } from './results.ts';
import { listItems, type Tool } from './tools.ts';

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
export function requireVariables(variables: unknown = {}): Record<string, unknown> {
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
