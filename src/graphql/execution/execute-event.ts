import type { ExecutionResult } from 'graphql';
import type { Subscription } from './live-answers.ts';
import { preparedOperation } from './prepared-operation.ts';
import { executeInPieces } from './sliced-execution.ts';
import { coerceVariables } from './variables.ts';

/** Executes a subscription on an event, in pieces, as values. */
export async function executeEvent(
  { schema, document, operationName, variables }: Subscription,
  event: unknown,
  context: object,
): Promise<ExecutionResult> {
  const operation = preparedOperation(schema, document, operationName);
  const { coerced, errors: wrong } = await coerceVariables(schema, operation.operation, variables);
  if (wrong) return { errors: wrong };
  const { data, errors } = await executeInPieces(operation, context, coerced, event);
  return { ...(errors.length > 0 && { errors }), data };
}
