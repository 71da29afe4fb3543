import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValueNode,
  visit,
} from 'graphql';
import { fragmentsOf } from './document.ts';
import { type AnswerForm, OperationPlan } from './execution-plan.ts';

/** Maximum number of cached plans of an operation: its conditions may have more outcomes. */
const mostPlans = 2;

/** Names of the variables that `@skip` and `@include` depend on. */
function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>();
  const add = (value: ValueNode) => {
    if (value.kind === Kind.VARIABLE) names.add(value.name.value);
  };
  visit(document, {
    Directive: ({ name, arguments: given = [] }) => {
      if (name.value === 'skip' || name.value === 'include') for (const { value } of given) add(value);
    },
  });
  return [...names];
}

/** A validated operation, whose plans are cached by the outcome of its conditions. */
export class PreparedOperation {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly form: AnswerForm;
  readonly #fragments: OperationPlan['fragments'];
  readonly #conditions: readonly string[];
  readonly #plans = new Map<string, OperationPlan>();

  /** Throws if the document has no such operation. */
  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operationName: string | null | undefined,
    form: AnswerForm,
  ) {
    const operation = getOperationAST(document, operationName);
    if (!operation) throw new Error('the document has no such operation');
    this.schema = schema;
    this.operation = operation;
    this.form = form;
    this.#fragments = Object.fromEntries(fragmentsOf(document));
    this.#conditions = conditionsOf(document);
  }

  /** The plan for these variables. */
  plan(variables: Readonly<Record<string, unknown>>): OperationPlan {
    const key = this.#conditions.map((name) => String(variables[name])).join();
    let plan = this.#plans.get(key);
    if (!plan) {
      plan = new OperationPlan(
        { schema: this.schema, operation: this.operation, fragments: this.#fragments, form: this.form },
        Object.fromEntries(this.#conditions.map((name) => [name, variables[name]])),
      );
      if (this.#plans.size >= mostPlans) this.#plans.delete(this.#plans.keys().next().value!);
      this.#plans.set(key, plan);
    }
    return plan;
  }
}

const none: ReadonlySet<string> = new Set();
const known = new WeakMap<DocumentNode, Map<string, PreparedOperation>>();

/**
 * Prepares an operation of a document once; it is cached as long as the document. Events of subscriptions are answered
 * as values, and so is what `asValues` says; everything else as JSON where possible.
 */
export function preparedOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  asValues = false,
): PreparedOperation {
  const operations = known.get(document) ?? new Map<string, PreparedOperation>();
  known.set(document, operations);
  const name = `${asValues ? 'values ' : ''}${operationName ?? ''}`;
  let operation = operations.get(name);
  if (!operation) {
    const isWritten =
      !asValues && getOperationAST(document, operationName)?.operation !== OperationTypeNode.SUBSCRIPTION;
    operation = new PreparedOperation(schema, document, operationName, { isWritten, absent: none });
    operations.set(name, operation);
  }
  return operation;
}
