import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { AskingCaller } from '../../schema/cost.ts';
import { scopeGroups } from '../scope-groups.ts';
import { actual } from './actual.ts';
import { type PlannedFields, planOf, type Weighing } from './cost-plan.ts';
import { introspectionCosts } from './introspection-cost.ts';
import { type LearnedSizes, learnedSizes } from './learned-sizes.ts';
import type { Asking } from './planned-cost.ts';
import { predict } from './predict.ts';
import { nothing, type Weight, weighed, weights } from './weight.ts';

/** Predicted weight of a request, before it runs. */
export interface Prediction extends Weight {
  /** Its actual weight, counted in the data of its answer. */
  actual: (data: unknown) => Weight;
}

/**
 * An operation's weight as a formula: it is made once for a document, and variables and the caller are put in for each
 * request.
 */
export interface WeighedOperation {
  kind: OperationTypeNode;
  /** Scope groups that its usage counts in. */
  groups: readonly string[];
  /** Predicts a request by its variables, coerced, and the points of reading what it came with. */
  predict(variables: Record<string, unknown>, caller: AskingCaller, sentPoints?: number): Prediction;
}

/** Bytes that all formulas together may take, and about what a field and the rest of one take. */
const cacheBytes = 16 * 1024 * 1024;
const bytesAField = 700;
const bytesAFormula = 2000;

function fieldsOf({ fields }: PlannedFields): number {
  return fields.reduce((count, { below }) => count + 1 + fieldsOf(below), 0);
}

function withPoints(weight: Weight, points: number): Weight {
  return { ...weight, points: weight.points + points };
}

function formula(
  weighing: Weighing,
  learned: LearnedSizes,
  document: DocumentNode,
  operation: OperationDefinitionNode,
) {
  const { schema } = weighing;
  const fields = planOf(weighing, document, operation);
  const tokens = document.tokenCount ?? 0;
  const weighedOperation: WeighedOperation = {
    kind: operation.operation,
    groups: scopeGroups(schema, document, operation.name?.value),
    predict(variables, caller, sentPoints = 0) {
      const asking: Asking = { variables, caller, learned, argumentsRead: new Map() };
      const points = tokens * weights.token + sentPoints;
      return {
        ...withPoints(weighed(predict(fields, asking)), points),
        actual: (data) => withPoints(weighed(actual(fields, data, asking)), points),
      };
    },
  };
  return { weighedOperation, bytes: bytesAFormula + bytesAField * fieldsOf(fields) };
}

/** The weight where executing says it is no operation of the document: nothing. */
const noOperation: WeighedOperation = {
  kind: OperationTypeNode.QUERY,
  groups: [],
  predict: () => ({ ...nothing, actual: () => nothing }),
};

/** Weighs an operation of a validated document. */
export type OperationWeights = (document: DocumentNode, operationName: string | null | undefined) => WeighedOperation;

/** Makes formulas of operations; each is cached under the document's text and the operation's name. */
export function operationWeights(schema: GraphQLSchema): OperationWeights {
  const weighing: Weighing = { schema, introspectionCost: introspectionCosts(schema) };
  const learned = learnedSizes();
  const cache = new LRUCache<string, ReturnType<typeof formula>>({
    maxSize: cacheBytes,
    sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length,
  });
  return (document, operationName) => {
    const operation = getOperationAST(document, operationName);
    if (!operation) return noOperation;
    const key = `${operationName ?? ''}\n${document.loc?.source.body}`;
    const found = cache.get(key) ?? formula(weighing, learned, document, operation);
    cache.set(key, found);
    return found.weighedOperation;
  };
}
