import type { IncomingMessage, ServerResponse } from 'node:http';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type ExecutionArgs, GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Authentication, Caller } from '../access/caller.ts';
import { Failure, invalidRequest, rateLimited, tokenExpired, unauthenticated } from '../domain/failure.ts';
import { lifetime } from '../domain/lifetime.ts';
import { compiledExecutor } from './compiled.ts';
import { publicError } from './errors.ts';
import { exampleTabs } from './examples.ts';
import { documentLimits, limitRules, requestCost } from './limits.ts';
import { isIntrospectionOnly, scopeGroups } from './scope-groups.ts';

/** What the GraphQL door needs from the server. */
export interface GraphqlDoor {
  schema: GraphQLSchema;
  authenticate: (request: IncomingMessage) => Promise<Authentication>;
  consume: (
    caller: Caller,
    cost: number,
  ) => Promise<{ allowed: boolean; limit: number; remaining: number; resetSeconds: number }>;
  count: (caller: Caller, scopeGroup: string) => void;
  /** For the dates of GraphiQL's examples. */
  now: () => number;
  context: (caller: Caller, onEnd: (undo: () => void) => void) => object;
  report: (request: IncomingMessage, failure: Failure) => void;
}

interface ServerContext {
  req: IncomingMessage;
  res: ServerResponse;
}

/** A request at this door: what it costs, and what is done when it has been answered. */
type DoorContext = ServerContext & { cost?: number; finish?: () => void };

/** A failure that ends the whole request, with its status and headers. */
function refusal(failure: Failure): GraphQLError {
  return new GraphQLError(failure.message, {
    originalError: failure,
    extensions: { code: failure.code, http: { status: failure.status, headers: failure.headers } },
  });
}

async function authorized(door: GraphqlDoor, request: IncomingMessage): Promise<Caller> {
  const authentication = await door.authenticate(request);
  if (authentication.state === 'ok') return authentication.caller;
  throw refusal(authentication.state === 'expired' ? tokenExpired() : unauthenticated());
}

/** Points of a document; throws 400 when it is too deep or costs too much. */
function pointsOf(schema: GraphQLSchema, args: ExecutionArgs, context: object): number {
  const { complexity, depth } = complexityFromQuery(args.document, {
    schema,
    ctx: context,
    variables: args.variableValues ?? {},
    ...(args.operationName ? { operationName: args.operationName } : {}),
  } as Parameters<typeof complexityFromQuery>[1]);
  if (depth > documentLimits.depth)
    throw refusal(invalidRequest(`The document is nested ${depth} deep; at most ${documentLimits.depth} is served.`));
  if (complexity > documentLimits.points) {
    throw refusal(
      invalidRequest(
        `The document costs ${Math.ceil(complexity)} points; at most ${documentLimits.points} are served. Ask for fewer symbols or rows.`,
      ),
    );
  }
  return complexity;
}

/** Authenticates, limits, charges and counts every operation but pure introspection, then gives it the graph's context. */
async function admit(door: GraphqlDoor, args: ExecutionArgs): Promise<void> {
  const context = args.contextValue as unknown as DoorContext;
  if (isIntrospectionOnly(args.document, args.operationName)) return;
  const caller = await authorized(door, context.req);
  const requestLife = lifetime();
  context.res.once('close', requestLife.end);
  context.finish = () => {
    requestLife.end();
    for (const group of scopeGroups(door.schema, args.document, args.operationName)) door.count(caller, group);
  };
  Object.assign(context, door.context(caller, requestLife.onEnd));
  context.cost = requestCost(pointsOf(door.schema, args, context));
  const rate = await door.consume(caller, context.cost);
  if (caller.kind === 'key') {
    context.res.setHeader('x-ratelimit-limit', rate.limit);
    context.res.setHeader('x-ratelimit-remaining', rate.remaining);
    context.res.setHeader('x-ratelimit-reset', rate.resetSeconds);
  }
  if (!rate.allowed)
    throw refusal(
      rateLimited(
        `More than ${rate.limit} requests a minute; this one costs ${context.cost}.`,
        Math.max(1, rate.resetSeconds),
      ),
    );
}

function admission(door: GraphqlDoor): Plugin {
  const compiled = compiledExecutor(door.schema);
  return {
    onParse: ({ setParseFn }) =>
      setParseFn((source: string, options: object) => parse(source, { ...options, maxTokens: documentLimits.tokens })),
    onValidate: ({ addValidationRule }) => {
      for (const rule of limitRules) addValidationRule(rule);
    },
    onExecute: async ({ args, executeFn, setExecuteFn, setResultAndStopExecution }) => {
      try {
        await admit(door, args as unknown as ExecutionArgs);
      } catch (error) {
        (args.contextValue as unknown as DoorContext).finish?.();
        setResultAndStopExecution({ errors: [error instanceof GraphQLError ? error : refusalOf(door, args, error)] });
        return;
      }
      setExecuteFn((given) => compiled(given as ExecutionArgs) ?? executeFn(given));
      return {
        onExecuteDone: ({ result, setResult }) => {
          const { cost, finish } = args.contextValue as unknown as DoorContext;
          finish?.();
          if (cost !== undefined && typeof result === 'object' && !(Symbol.asyncIterator in result)) {
            setResult({ ...result, extensions: { ...result.extensions, cost: { requests: cost } } });
          }
        },
      };
    },
    // Whatever door an error came in by, its code is one of the contract's.
    onResultProcess: ({ result, setResult, serverContext }) => {
      if (Array.isArray(result) || Symbol.asyncIterator in result || !result.errors?.length) return;
      const { req } = serverContext as unknown as ServerContext;
      const errors = result.errors.map((error) =>
        isRefusal(error) ? error : publicError(error, (failure) => door.report(req, failure)),
      );
      setResult({ ...result, errors });
    },
  };
}

/** Whether an error is one of `refusal`, ready to be sent. */
function isRefusal(error: unknown): error is GraphQLError {
  return (
    error instanceof GraphQLError && error.originalError instanceof Failure && error.extensions?.http !== undefined
  );
}

function refusalOf(door: GraphqlDoor, args: { contextValue?: unknown }, error: unknown): GraphQLError {
  const { req } = args.contextValue as unknown as DoorContext;
  return publicError(error, (failure) => door.report(req, failure));
}

/** The `/graphql` endpoint: the graph over HTTP, and GraphiQL for browsers. */
export function graphqlDoor(door: GraphqlDoor): YogaServerInstance<ServerContext, object> {
  return createYoga<ServerContext>({
    schema: door.schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    logging: false,
    maskedErrors: false,
    // Cross-origin rules are the server's, for both doors alike.
    cors: false,
    plugins: [admission(door) as Plugin<object>],
    renderGraphiQL,
    graphiql: () => ({
      title: 'Tapegraph',
      defaultTabs: exampleTabs(door.now()),
      defaultEditorToolsVisibility: 'headers',
      // A key is remembered for the tab only: it would otherwise stay in the browser's storage.
      shouldPersistHeaders: false,
      credentials: 'omit',
    }),
  });
}
