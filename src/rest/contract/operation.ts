import { readdirSync, readFileSync } from 'node:fs';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  validate,
  visit,
} from 'graphql';
import type { Executed } from '../../graphql/execution/execute.ts';
import type { ExecutionValues } from '../../graphql/execution/execution.ts';
import type { AnswerForm } from '../../graphql/execution/execution-plan.ts';
import { operationSpan } from '../../graphql/execution/operation-span.ts';
import { PreparedOperation } from '../../graphql/execution/prepared-operation.ts';
import { type AnswerLimits, executeInPieces } from '../../graphql/execution/sliced-execution.ts';
import { coerceVariables } from '../../graphql/execution/variables.ts';
import { type Failure, failureWithin, internal, invalidRequest } from '../../platform/wire/failure.ts';

const folder = new URL('../fragments/', import.meta.url);

/** Selections shared by stored operations, by fragment name: those of the files in `fragments/`. */
const shared: ReadonlyMap<string, SelectionSetNode> = new Map(
  readdirSync(folder).flatMap((file) =>
    parse(readFileSync(new URL(file, folder), 'utf8'), { noLocation: true }).definitions.map((fragment) => {
      if (fragment.kind !== Kind.FRAGMENT_DEFINITION) throw new Error(`fragments/${file} holds more than fragments`);
      return [fragment.name.value, fragment.selectionSet] as const;
    }),
  ),
);

function selectionOf(name: string): SelectionSetNode {
  const found = shared.get(name);
  if (!found) throw new Error(`there is no fragment ${name} in fragments/`);
  return found;
}

function withoutSpreads({ selections }: SelectionSetNode): SelectionNode[] {
  return selections.flatMap((node) =>
    node.kind === Kind.FRAGMENT_SPREAD ? withoutSpreads(selectionOf(node.name.value)) : [node],
  );
}

/** A stored operation with each fragment spread replaced by the fields of the fragment, so that it stands alone. */
export function withFragments(document: DocumentNode): DocumentNode {
  return visit(document, {
    SelectionSet: (node) => ({ ...node, selections: withoutSpreads(node) }),
  });
}

/** Context of a stored operation: the graph's, opaque here. */
export type OperationContext = object;

/**
 * Forms of a route's answer: JSON, of which long parts are already written; the same as values; or values with null for
 * the keys that JSON omits.
 */
export type StoredForm = 'json' | 'values' | 'whole';

/** A route's stored operation, validated. */
export interface StoredOperation extends ReadOperation {
  /** The name and attributes of the span of a run. */
  span: ReturnType<typeof operationSpan>;
  /** Names of the operation's variables. */
  variables: readonly string[];
  /** Runs it; throws the `Failure` of the first error. */
  run: (
    form: StoredForm,
    context: OperationContext,
    variables: Record<string, unknown>,
    metering?: Metering,
  ) => Promise<Record<string, unknown>>;
}

/** Charge of a run, and its limits. */
export interface Metering {
  limits: AnswerLimits;
  /**
   * Charges the run before it begins, by its coerced variables. Returns the items of its fields in flight, if they
   * start in order. Throws 400 or 429.
   */
  begin: (variables: Record<string, unknown>) => Promise<ExecutionValues['inFlight']>;
  /** Corrects the charge by what the answer holds. */
  end: (executed: Pick<Executed, 'root' | 'tallies'>) => Promise<void>;
}

/** The failure behind a GraphQL error: thrown by a resolver or scalar, or an internal error. */
export function failureOf(error: GraphQLError): Failure {
  const thrown = failureWithin(error);
  if (thrown) return thrown;
  if (error.extensions?.code === 'invalid_params') return invalidRequest(error.message);
  return internal(error.originalError ?? error);
}

/** A stored operation after parsing. */
export interface ReadOperation {
  /** Its text, complete: shared fragments are expanded. */
  source: string;
  document: DocumentNode;
  definition: OperationDefinitionNode;
  /** Differs from that of every other operation of the name; absent: the name is unique. */
  key?: string;
}

/** The sole operation of a document. */
const operationIn = ({ definitions }: DocumentNode) =>
  definitions.find((node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION)!;

/** An operation as it is written in a file, relative to this folder, with shared fragments expanded. */
export function writtenOperation(path: string): Omit<ReadOperation, 'source'> {
  const text = readFileSync(new URL(path, import.meta.url), 'utf8');
  const document = withFragments(parse(text, { noLocation: true }));
  return { document, definition: operationIn(document) };
}

/** Validates the operation of a file. Throws at startup if it does not fit the schema. */
export function validOperation(schema: GraphQLSchema, path: string, document: DocumentNode): ReadOperation {
  const problems = validate(schema, document);
  if (problems.length > 0)
    throw new Error(`${path} does not fit the schema: ${problems.map((problem) => problem.message).join('; ')}`);
  return { source: `${print(document)}\n`, document, definition: operationIn(document) };
}

/** Reads and validates an operation's file, relative to this folder. */
export const readOperation = (schema: GraphQLSchema, path: string): ReadOperation =>
  validOperation(schema, path, writtenOperation(path).document);

/** Traits of a route that its operation is run by. */
export interface OperationTraits {
  /** Keys of `data` and its rows that are absent, not null, when unknown. */
  absent: readonly string[];
  /**
   * The error of variables that the operation's types reject, in the contract's words; null = the type's own error,
   * whose message is `problem`.
   */
  invalidVariables?: (variables: Readonly<Record<string, unknown>>, problem: string) => Failure | null;
}

/** A route's operation, ready to run. */
export function storedOperation(schema: GraphQLSchema, route: OperationTraits, read: ReadOperation): StoredOperation {
  const { document, definition } = read;
  const absent = new Set(route.absent);
  const prepared = (form: AnswerForm) => new PreparedOperation(schema, document, definition.name?.value, form);
  const forms: Record<StoredForm, PreparedOperation> = {
    json: prepared({ isWritten: true, absent }),
    values: prepared({ isWritten: false, absent }),
    whole: prepared({ isWritten: false, absent: new Set() }),
  };
  return {
    ...read,
    span: operationSpan(document),
    variables: (definition.variableDefinitions ?? []).map((variable) => variable.variable.name.value),
    run: async (form, context, variables, metering) => {
      const { coerced, errors: wrong } = await coerceVariables(schema, definition, variables);
      if (wrong) throw route.invalidVariables?.(variables, wrong[0]!.message) ?? failureOf(wrong[0]!);
      const inFlight = await metering?.begin(coerced);
      const executed = await executeInPieces(forms[form], context, coerced, { limits: metering?.limits, inFlight });
      await metering?.end(executed);
      const { data, errors } = executed;
      if (errors.length > 0) throw failureOf(errors[0]!);
      return data!;
    },
  };
}
