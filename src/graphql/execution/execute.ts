import { type ExecutionArgs, type GraphQLError, getOperationAST, locatedError, OperationTypeNode } from 'graphql';
import { CollectedErrors } from './collected-errors.ts';
import { fragmentsOf } from './document.ts';
import { Execution } from './execution.ts';
import { Plans } from './execution-plan.ts';
import { WrittenData } from './leaf-tally.ts';
import type { Pieces } from './sliced-work.ts';

/** The result of an execution. */
export interface WrittenResult {
  /** Null when an error took all of it; absent when the operation did not run. */
  data?: WrittenData | null;
  errors: readonly GraphQLError[];
}

/**
 * Runs a validated query or mutation, with variables as `coerceVariables` read them, in pieces. Rejects when it is
 * stopped.
 */
export async function executeInPieces(args: ExecutionArgs, pieces: Pieces): Promise<WrittenResult> {
  const { schema, document, rootValue, contextValue } = args;
  const operation = getOperationAST(document, args.operationName)!;
  const fragments = Object.fromEntries(fragmentsOf(document));
  const plans = new Plans({ schema, operation, fragments, variableValues: args.variableValues ?? {}, rootValue });
  const errors = new CollectedErrors((bytes) => pieces.wrote(bytes));
  const type = schema.getRootType(operation.operation)!;
  const execution = new Execution(contextValue, pieces, errors);
  const data = await pieces.run(async () => {
    try {
      const root = plans.root(type);
      const completed = await (operation.operation === OperationTypeNode.MUTATION
        ? execution.serialFields(root, rootValue)
        : execution.fields(root, rootValue, undefined));
      const writer = pieces.writer();
      writer.value(completed);
      return new WrittenData(writer.done(), plans.tally);
    } catch (error) {
      errors.add(locatedError(error, operation), undefined);
      return null;
    }
  });
  return { data, errors: errors.errors };
}
