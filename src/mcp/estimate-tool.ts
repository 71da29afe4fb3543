import { invalidParameter } from '../platform/wire/failure.ts';
import { requireVariables } from './graphql-tool.ts';
import { answered, type ToolResult } from './results.ts';
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
