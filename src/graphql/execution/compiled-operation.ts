import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type NamedTypeNode,
  type TypeNode,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { opaqueScalar, withTwins, withTwinsIn } from './plain-rows.ts';
import { NotPlain } from './row-writer.ts';

/** Runs an operation with variables as `coerceVariables` read them; every one must have a value or be null. */
export type RunOperation = CompiledQuery['query'];

/** An operation in compiled form. */
export interface CompiledOperation {
  /** Gives the data as values. */
  run: RunOperation;
  /**
   * Returns the data with `WrittenRows` in place of lists of objects from which the operation selects only plain
   * values, such as pages of bars: these are not completed value by value, and no objects are created for them. If a
   * row does not fit its type, the operation runs again and every value is completed, which gives the error and its
   * path.
   */
  runWritten: RunOperation;
}

const opaque: NamedTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: opaqueScalar } };

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

/**
 * The document with variables of the opaque scalar. Executors would read them again, in one piece: milliseconds for a
 * long list. The compiled form requires that conditions are of `Boolean`, which is quickly read.
 */
function withReadVariables(document: DocumentNode): DocumentNode {
  return visit(document, {
    VariableDefinition: (node) =>
      namedType(node.type) === 'Boolean' ? undefined : { ...node, type: opaque, defaultValue: undefined },
  });
}

/** A document with the schema that it is executed on. */
interface Executable {
  schema: GraphQLSchema;
  document: DocumentNode;
}

/** An operation for executors that would read its variables again: it takes them as `coerceVariables` read them. */
export function takingReadVariables({ schema, document }: Executable): Executable {
  return { schema: twinOf(schema), document: withReadVariables(document) };
}

function compiled(schema: GraphQLSchema, document: DocumentNode, operationName: string | undefined) {
  const options = { disablingCapturingStackErrors: true } as never;
  const query = compileQuery(schema, withReadVariables(document), operationName, options);
  return isCompiledQuery(query) ? query.query : null;
}

const none: ReadonlySet<string> = new Set();
const twins = new WeakMap<GraphQLSchema, GraphQLSchema>();

/** The schema with twins, made once. */
function twinOf(schema: GraphQLSchema): GraphQLSchema {
  const twin = twins.get(schema) ?? withTwins(schema);
  twins.set(schema, twin);
  return twin;
}

const isNotPlain = ({ originalError }: GraphQLError) => originalError instanceof NotPlain;

/**
 * Compiles an operation; null if it cannot be.
 *
 * @param absent Keys of written rows that are omitted where they are null.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string,
  absent = none,
): CompiledOperation | null {
  const twin = twinOf(schema);
  const written = compiled(twin, withTwinsIn(schema, document, absent), operationName);
  if (!written) return null;
  let plain: RunOperation | null = null;
  const run: RunOperation = (...asked) => {
    plain ??= compiled(twin, document, operationName)!;
    return plain(...asked);
  };
  return {
    run,
    runWritten: async (...asked): Promise<ExecutionResult> => {
      const result = await written(...asked);
      return result.errors?.some(isNotPlain) ? run(...asked) : result;
    },
  };
}
