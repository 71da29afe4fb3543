import { readFileSync } from 'node:fs';
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  validate,
} from 'graphql';
import { compileOperation, type RunOperation } from '../../graphql/execution/compiled-operation.ts';
import { operationSpan } from '../../graphql/execution/operation-span.ts';
import { coerceVariables } from '../../graphql/execution/variables.ts';
import { type Failure, failureWithin, internal, invalidRequest } from '../../wire/failure.ts';
import { withFragments } from './fragments.ts';
import type { Route } from './route.ts';

/** Context of a stored operation: the graph's, opaque here. */
export type OperationContext = object;

/** A route's stored operation: validated and compiled. */
export interface StoredOperation {
  source: string;
  document: DocumentNode;
  /** The name and attributes of the span of a run. */
  span: ReturnType<typeof operationSpan>;
  /** Names of the operation's variables. */
  variables: readonly string[];
  /** Runs it; throws the `Failure` of the first error. */
  run: Run;
  /** The same, for an answer in JSON: with `WrittenRows` where rows stand that have been written already. */
  runForJson: Run;
}

type Run = (context: OperationContext, variables: Record<string, unknown>) => Promise<Record<string, unknown>>;

/** The failure behind a GraphQL error: what a resolver or scalar threw, or a defect of ours. */
export function failureOf(error: GraphQLError): Failure {
  const thrown = failureWithin(error);
  if (thrown) return thrown;
  if (error.extensions?.code === 'invalid_params') return invalidRequest(error.message);
  return internal(error.originalError ?? error);
}

/** A stored operation as it was read. */
export interface ReadOperation {
  /** Its text, which stands alone: shared fragments are written out. */
  source: string;
  document: DocumentNode;
  definition: OperationDefinitionNode;
}

/**
 * Reads and validates an operation's file, named from this folder. Throws when it does not fit the schema, which stops
 * the start.
 */
export function readOperation(schema: GraphQLSchema, path: string): ReadOperation {
  const document = withFragments(parse(readFileSync(new URL(path, import.meta.url), 'utf8'), { noLocation: true }));
  const problems = validate(schema, document);
  if (problems.length > 0)
    throw new Error(`${path} does not fit the schema: ${problems.map((problem) => problem.message).join('; ')}`);
  const definition = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )!;
  return { source: `${print(document)}\n`, document, definition };
}

/** Reads, validates and compiles a route's operation. */
export function storedOperation(schema: GraphQLSchema, route: Route): StoredOperation {
  const { source, document, definition } = readOperation(schema, `../routes/${route.operation}`);
  const variables = (definition.variableDefinitions ?? []).map((variable) => variable.variable.name.value);
  const compiled = compileOperation(schema, document, definition.name?.value, new Set(route.absent));
  if (!compiled) throw new Error(`${route.operation} does not compile`);
  const running =
    (run: RunOperation): Run =>
    async (context, values) => {
      // The compiled form departs from the language when variables are omitted: every one is sent.
      const complete = Object.fromEntries(variables.map((name) => [name, values[name] ?? null]));
      const { coerced, errors } = await coerceVariables(schema, definition, complete);
      if (errors) throw route.invalidVariables?.(complete) ?? failureOf(errors[0]!);
      const result = await run(undefined, context, coerced);
      if (result.errors?.length) throw failureOf(result.errors[0]!);
      return result.data as Record<string, unknown>;
    };
  return {
    source,
    document,
    span: operationSpan(document),
    variables,
    run: running(compiled.run),
    runForJson: running(compiled.runWritten),
  };
}
