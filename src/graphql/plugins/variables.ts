import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { jsonFailure } from '../../wire/sent-text.ts';
import { coerceVariables } from '../execution/variables.ts';
import { stateOf } from '../request-state.ts';

/** Coerces the variables of an operation. Returns the errors. */
async function readVariables(args: ExecutionArgs): Promise<readonly GraphQLError[]> {
  const sent = args.variableValues ?? {};
  const failure = jsonFailure(sent, 'variables');
  if (failure) {
    const { message, details } = failure;
    return [new GraphQLError(message, { extensions: { code: 'invalid_params', ...(details ? { details } : {}) } })];
  }
  const operation = getOperationAST(args.document, args.operationName);
  // The executor reports that the document has no such operation.
  if (!operation) return [];
  const { coerced, errors } = await coerceVariables(args.schema, operation, sent);
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
