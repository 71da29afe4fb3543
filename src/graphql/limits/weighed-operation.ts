import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { rightsOf } from '../../access/entitlement/recheck.ts';
import type { AskingCaller } from '../../schema/cost.ts';
import { scopeGroups } from '../scope-groups.ts';
import { actual } from './actual.ts';
import { planOf, type Weighing } from './cost-plan.ts';
import { estimated, type OperationEstimate } from './field-estimates.ts';
import { idsNamed, itemsInFlight, type NamedIds } from './fields-in-flight.ts';
import { introspectionCosts } from './introspection-cost.ts';
import { type LearnedByRights, learnedSizes } from './learned-sizes.ts';
import type { Asking } from './planned-cost.ts';
import { assumptions, predict } from './predict.ts';
import { nothing, type Weight, weighed, weights } from './weight.ts';

/** Predicted weight of a request, before it runs. */
export interface Prediction extends Weight {
  /** Counts its actual weight in the data of its answer. */
  actual: (data: unknown) => Weight;
  /** The most that it can weigh, without errors that no field of the operation gives. */
  maximum: () => Weight;
  /** Objects that its arguments name. */
  ids: NamedIds;
  /** Items of the fields that start in the order of the document; undefined = there is one. */
  inFlight: () => ReadonlyMap<string, number> | undefined;
}

/**
 * An operation's weight as a formula: built once per document, evaluated with the variables and the caller of each
 * request.
 */
export interface WeighedOperation {
  kind: OperationTypeNode;
  /** Scope groups that its usage is counted under. */
  groups: readonly string[];
  /** Predicts a request by its coerced variables, and the points of reading its body. */
  predict(variables: Record<string, unknown>, caller: AskingCaller, sentPoints?: number): Prediction;
  /** Weighs a request by every assumption, and each of its fields. */
  estimate(
    variables: Record<string, unknown>,
    caller: AskingCaller,
    sentPoints?: number,
  ): OperationEstimate & Pick<Prediction, 'ids'>;
}

function withPoints(weight: Weight, points: number): Weight {
  return { ...weight, points: weight.points + points };
}

function formula(
  weighing: Weighing,
  learned: LearnedByRights,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): WeighedOperation {
  const { schema } = weighing;
  const fields = planOf(weighing, document, operation);
  const tokens = document.tokenCount ?? 0;
  const askingOf = (variables: Asking['variables'], caller: AskingCaller): Asking => ({
    ...{ variables, caller, learned: learned(rightsOf(caller)) },
    argumentsRead: new Map(),
  });
  return {
    kind: operation.operation,
    groups: scopeGroups(schema, document, operation.name?.value),
    predict(variables, caller, sentPoints = 0) {
      const asking = askingOf(variables, caller);
      const points = tokens * weights.token + sentPoints;
      return {
        ...withPoints(weighed(predict(fields, asking)), points),
        actual: (data) => withPoints(weighed(actual(fields, data, asking)), points),
        maximum: () => withPoints(weighed(predict(fields, asking, assumptions.maximum)), points),
        ids: idsNamed(fields, asking),
        inFlight: () => itemsInFlight(fields, asking),
      };
    },
    estimate(variables, caller, sentPoints = 0) {
      const asking = askingOf(variables, caller);
      const { charged, expected, maximum, ...others } = estimated(fields, asking);
      const points = tokens * weights.token + sentPoints;
      return {
        ...others,
        ids: idsNamed(fields, asking),
        charged: withPoints(charged, points),
        expected: withPoints(expected, points),
        maximum: withPoints(maximum, points),
      };
    },
  };
}

const noIds: NamedIds = { count: 0, argument: '' };

/** The weight if the document has no such operation, which the execution reports: nothing. */
const noOperation: WeighedOperation = {
  kind: OperationTypeNode.QUERY,
  groups: [],
  predict: () => ({
    ...nothing,
    actual: () => nothing,
    maximum: () => nothing,
    ids: noIds,
    inFlight: () => undefined,
  }),
  estimate: () => ({ charged: nothing, expected: nothing, maximum: nothing, ids: noIds, fields: [] }),
};

/** Weighs an operation of a validated document. */
export type OperationWeights = (document: DocumentNode, operationName: string | null | undefined) => WeighedOperation;

/** Builds the formulas of stored documents, which their owner keeps, each at its first request: few are asked. */
export function storedWeights(schema: GraphQLSchema) {
  const weighing: Weighing = { schema, introspectionCost: introspectionCosts(schema) };
  const learned = learnedSizes();
  return (document: DocumentNode, operation: OperationDefinitionNode): WeighedOperation => {
    let built: WeighedOperation | null = null;
    const build = () => {
      built ??= formula(weighing, learned, document, operation);
      return built;
    };
    return {
      kind: operation.operation,
      groups: scopeGroups(schema, document, operation.name?.value),
      predict: (...asked) => build().predict(...asked),
      estimate: (...asked) => build().estimate(...asked),
    };
  };
}

/**
 * Builds formulas of operations. Each lives as long as its operation: a formula refers to the nodes of its document,
 * whose cache is bounded for both.
 */
export function operationWeights(schema: GraphQLSchema): OperationWeights {
  const weighing: Weighing = { schema, introspectionCost: introspectionCosts(schema) };
  const learned = learnedSizes();
  const formulas = new WeakMap<OperationDefinitionNode, WeighedOperation>();
  return (document, operationName) => {
    const operation = getOperationAST(document, operationName);
    if (!operation) return noOperation;
    const found = formulas.get(operation) ?? formula(weighing, learned, document, operation);
    formulas.set(operation, found);
    return found;
  };
}
