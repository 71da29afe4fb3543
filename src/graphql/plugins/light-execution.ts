import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  OperationTypeNode,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { writtenJson } from '../../wire/json-bytes.ts';
import { compileOperation, type RunOperation } from '../execution/compiled-operation.ts';
import { WrittenValues } from '../execution/leaf-tally.ts';
import { operationSpan } from '../execution/operation-span.ts';
import { type AnswerLimits, answerInPieces } from '../execution/sliced-execution.ts';
import { sentPoints } from '../limits/sent-points.ts';
import { type OperationState, requestError, stateOf } from '../request-state.ts';

/** Compiling costs milliseconds, so a document earns it by coming back. */
const usesBeforeCompiling = 2;

interface Entry {
  uses: number;
  /** Null = it does not compile; undefined = not tried yet. */
  compiled?: RunOperation | null;
}

/**
 * True if the compiled form means the same: it departs from the language where a variable is omitted or null, so every
 * declared variable must have a value. Introspection is executed otherwise too.
 */
function isEligible(args: ExecutionArgs): boolean {
  const operation = getOperationAST(args.document, args.operationName);
  if (operation?.operation !== OperationTypeNode.QUERY) return false;
  const variables = args.variableValues ?? {};
  const complete = (operation.variableDefinitions ?? []).every(
    (definition) => variables[definition.variable.name.value] != null,
  );
  return (
    complete &&
    operation.selectionSet.selections.every((node) => node.kind !== Kind.FIELD || !node.name.value.startsWith('__'))
  );
}

/**
 * The error with its positions in the source. The compiled form gives only line and column, which are lost wherever
 * an error is made from another.
 */
function positioned(error: GraphQLError, { loc }: DocumentNode): GraphQLError {
  if (!loc || !error.locations || error.positions) return error;
  const lines = [0, ...[...loc.source.body.matchAll(/\r\n|\n|\r/g)].map((end) => end.index + end[0].length)];
  return new GraphQLError(error.message, {
    source: loc.source,
    positions: error.locations.map(({ line, column }) => lines[line - 1]! + column - 1),
    path: error.path ?? null,
    originalError: error.originalError ?? null,
    extensions: error.extensions,
  });
}

/**
 * Runs documents that come again in compiled form, several times faster. Returns null for what is to be
 * executed otherwise.
 */
function compiledExecutor(schema: GraphQLSchema): (args: ExecutionArgs) => Promise<ExecutionResult> | null {
  // Keyed by the parsed document, which the parser's cache keeps as long as it is in use.
  const entries = new WeakMap<DocumentNode, Map<string, Entry>>();
  function entryOf(args: ExecutionArgs): Entry {
    const operations = entries.get(args.document) ?? new Map<string, Entry>();
    entries.set(args.document, operations);
    const name = args.operationName ?? '';
    const entry = operations.get(name) ?? { uses: 0 };
    operations.set(name, entry);
    return entry;
  }
  return (args) => {
    if (!isEligible(args)) return null;
    const entry = entryOf(args);
    if (++entry.uses < usesBeforeCompiling) return null;
    if (entry.compiled === undefined) {
      entry.compiled = compileOperation(schema, args.document, args.operationName ?? undefined)?.runWritten ?? null;
    }
    return entry.compiled ? run(entry.compiled, args) : null;
  };
}

async function run(compiled: RunOperation, args: ExecutionArgs): Promise<ExecutionResult> {
  const { data, errors } = await compiled(undefined, args.contextValue, stateOf(args).variables);
  const written = data ? new WrittenValues(await writtenJson(data), data) : data;
  return {
    ...(errors && { errors: errors.map((error) => positioned(error, args.document)) }),
    ...(written !== undefined && { data: written as never }),
  };
}

/**
 * The error of a request that names no operation of its document: the executors throw there. In Yoga's words, which
 * says it first by HTTP.
 */
const noOperation = 'Could not determine what operation to execute.';

/** Processing time, ms, that an operation has before it waits for its turns as heavy work does. */
const lightMs = 5;

/**
 * Runs operations in place of Yoga's executor: queries that come again in compiled form, the others by our own
 * executor, which takes half the time of Yoga's. Both take the variables as they were read.
 */
export function lightExecution(services: EndpointServices, limits: AnswerLimits): Plugin {
  const { schema, span } = services;
  const compiled = compiledExecutor(schema);

  function execute(args: ExecutionArgs): Promise<ExecutionResult> {
    const state = stateOf(args);
    // Where much is sent, much may be answered: the compiled form does that in one piece.
    const again = sentPoints(state) > 0 ? null : compiled(args);
    return again ?? answerInPieces(args, limits, lightMs).catch((error) => failed(state, error));
  }

  const failed = (state: OperationState, error: unknown) => ({ errors: [requestError(services, state, error)] });

  return {
    onExecute: ({ args, setExecuteFn, setResultAndStopExecution }) => {
      const operation = getOperationAST(args.document, args.operationName);
      if (!operation) {
        const error = new GraphQLError(noOperation, { extensions: { code: 'invalid_params' } });
        return setResultAndStopExecution({ errors: [error] });
      }
      const described = operationSpan(args.document, args.operationName);
      setExecuteFn((now) => span(...described, () => execute(now as ExecutionArgs)));
    },
  };
}
