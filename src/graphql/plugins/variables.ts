import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { jsonFailure } from '../../platform/wire/sent-text.ts';
import { type CoercedVariables, coerceVariables } from '../execution/variables.ts';
import { stateOf } from '../request-state.ts';

/** Coerces the variables of an operation by their types. */
export async function coercedVariables({
  schema,
  document,
  operationName,
  variableValues,
}: Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>): Promise<CoercedVariables> {
  const sent = variableValues ?? {};
  const failure = jsonFailure(sent, 'variables');
  if (failure) {
    const { message, details } = failure;
    const extensions = { code: 'invalid_params', ...(details ? { details } : {}) };
    return { errors: [new GraphQLError(message, { extensions })] };
  }
  const operation = getOperationAST(document, operationName);
  // The executor reports that the document has no such operation.
  return operation ? coerceVariables(schema, operation, sent) : { coerced: {} };
}

/** Coerces the variables of an operation. Returns the errors. */
async function readVariables(args: ExecutionArgs): Promise<readonly GraphQLError[]> {
  const { coerced, errors } = await coercedVariables(args);
  if (errors) return errors;
  stateOf(args).variables = coerced;
  return [];
}

/**
 * Coerces variables once, before admission, for weighing and execution. Rejects those that cannot be stored, are nested
 * too deep, or do not fit their types.
 */
export function variables(): Plugin {
  return {
    onExecute: async ({ args, setResultAndStopExecution }) => {
      const errors = await readVariables(args as unknown as ExecutionArgs);
      if (errors.length > 0) setResultAndStopExecution({ errors: [...errors] });
    },
    onSubscribe: async ({ args, setResultAndStopExecution }) => {
      const errors = await readVariables(args as unknown as ExecutionArgs);
      if (errors.length > 0) setResultAndStopExecution({ errors: [...errors] });
    },
  };
}
