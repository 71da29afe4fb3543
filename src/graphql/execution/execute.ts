import { type GraphQLError, locatedError } from 'graphql';
import { Execution, type ExecutionValues } from './execution.ts';
import type { Position, Tallies } from './leaf-tally.ts';
import type { PreparedOperation } from './prepared-operation.ts';
import type { Pieces } from './sliced-work.ts';

/** The result of an execution. */
export interface Executed {
  /**
   * A tree of values, which contains `WrittenJson` if the operation's form asks for it; null if an error nulled the
   * whole answer.
   */
  data: Record<string, unknown> | null;
  errors: readonly GraphQLError[];
  /** Counts of completed values, and the position of the root in them. */
  tallies: Tallies;
  root: Position;
}

/** Runs a query or mutation in time slices. */
export async function execute(
  operation: PreparedOperation,
  values: ExecutionValues,
  pieces: Pieces,
): Promise<Executed> {
  const plan = operation.plan(values.variableValues);
  const execution = new Execution(plan, values, pieces);
  const { errors, tallies } = execution;
  let data: Executed['data'] = null;
  try {
    data = (await execution.run()) as Record<string, unknown>;
  } catch (error) {
    errors.add(locatedError(error, plan.operation), undefined);
  }
  return { data, errors: errors.errors, tallies, root: plan.position };
}
