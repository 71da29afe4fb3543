import type { IncomingMessage, ServerResponse } from 'node:http';
import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  parse,
} from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Caller } from '../access/caller.ts';
import type { RateState } from '../access/rate.ts';
import { hasToldRate, tellRate } from '../access/rate-headers.ts';
import { Failure, internal, invalidRequest, rateLimited, tokenExpired, unauthenticated } from '../domain/failure.ts';
import { isHeavy, jsonBytes } from '../domain/json-bytes.ts';
import type { KeptAnswers } from '../domain/kept-answers.ts';
import { type Lifetime, lifetime } from '../domain/lifetime.ts';
import { compiledExecutor } from './compiled.ts';
import { publicError } from './errors.ts';
import { graphiqlOptions, graphiqlPage } from './graphiql-page.ts';
import { keptKey } from './kept.ts';
import { documentLimits, limitRules, requestCost } from './limits.ts';
import { isRefusal, refusal } from './refusal.ts';
import { requestForm } from './request-form.ts';
import { isIntrospectionOnly, scopeGroups } from './scope-groups.ts';
import { type RunOperation, singleConnections } from './single-connection.ts';
import { requireEventStream, type Subscribed, type SubscriptionDoor, sendAnswers, subscribe } from './subscriptions.ts';

/** What the GraphQL door needs from the server. */
export interface GraphqlDoor extends SubscriptionDoor {
  consume: (caller: Caller, cost: number) => Promise<RateState>;
  count: (caller: Caller, scopeGroup: string) => void;
  /** For the dates of GraphiQL's examples. */
  now: () => number;
  /** Markup that stands above GraphiQL in its page. */
  aboveGraphiql: string;
  /** Takes the request's place among those in flight, if it has none yet; 429 when there is none left. */
  takeInFlightPlace: (context: object) => Promise<void>;
  /** Answers of the last moments, as JSON. */
  kept: KeptAnswers<string>;
  /** What is found out of a request, for log and metrics. */
  note: (
    request: IncomingMessage,
    found: { operation?: string; groups?: readonly string[]; cost?: number; code?: string },
  ) => void;
  /** Does a part of the work, for traces. */
  span: <T>(name: string, facts: Record<string, string>, work: () => T) => T;
}

interface ServerContext {
  req: IncomingMessage;
  res: ServerResponse;
}

/** A request at this door: what it costs, and what is done when it has been answered. */
type DoorContext = ServerContext & {
  params: { query?: string };
  caller?: Caller;
  cost?: number;
  groups?: readonly string[];
  finish?: () => void;
  /** The connection a subscription is told on, when it is not the request's own. */
  connection?: Lifetime;
};

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

/** `query`, `mutation` or `subscription`. */
function operationKind({ document, operationName }: ExecutionArgs): string {
  return getOperationAST(document, operationName)?.operation ?? 'query';
}

/** Authenticates, limits, charges and counts every operation but pure introspection, then gives it the graph's context. */
async function admit(door: GraphqlDoor, args: ExecutionArgs, requestLife: Lifetime): Promise<void> {
  const context = args.contextValue as unknown as DoorContext;
  if (isIntrospectionOnly(args.document, args.operationName)) return;
  const caller = await authorized(door, context.req);
  const groups = scopeGroups(door.schema, args.document, args.operationName);
  context.groups = groups;
  door.note(context.req, { operation: operationKind(args), groups });
  context.finish = () => {
    requestLife.end();
    for (const group of groups) door.count(caller, group);
  };
  Object.assign(context, door.context(caller, requestLife.onEnd));
  context.cost = requestCost(pointsOf(door.schema, args, context));
  await charge(door, caller, context.cost, context.res);
  door.note(context.req, { cost: context.cost });
}

/** Takes `cost` requests from the caller's rate and tells a key how it stands; 429 when that is more than is left. */
async function charge(door: GraphqlDoor, caller: Caller, cost: number, response: ServerResponse): Promise<void> {
  const rate = await door.consume(caller, cost);
  tellRate(caller, rate, response);
  if (!rate.allowed)
    throw refusal(
      rateLimited(`More than ${rate.limit} requests a minute; this one costs ${cost}.`, Math.max(1, rate.resetSeconds)),
    );
}

/** What a request that was refused before it was admitted costs is 1, and is told; null, or the refusal where nothing is left. */
async function chargeRefused(door: GraphqlDoor, { req, res }: ServerContext): Promise<GraphQLError | null> {
  if (res.headersSent || hasToldRate(res)) return null;
  try {
    const authentication = await door.authenticate(req);
    if (authentication.state === 'ok') await charge(door, authentication.caller, 1, res);
    return null;
  } catch (error) {
    return isRefusal(error) ? error : refusalOf(door, { req, res }, error);
  }
}

/**
 * The key of a request's answer, when it may be kept. Stock bars take their place in flight all the same; where there is
 * none left nothing is kept or given, and the field itself says so.
 */
async function keyOf(door: GraphqlDoor, args: ExecutionArgs, context: DoorContext): Promise<string | null> {
  const { caller, groups, params } = context;
  if (!caller || !groups || !params.query) return null;
  const key = keptKey(caller, args, params.query, groups, door.now());
  if (key === null || !groups.includes('market.bars')) return key;
  const taken = await door.takeInFlightPlace(context).then(
    () => true,
    () => false,
  );
  return taken ? key : null;
}

/** Lets a subscription in as any request, counting it at once; what it then holds it holds until `connection` ends. */
async function admitSubscription(
  door: GraphqlDoor,
  args: ExecutionArgs,
  connection: Lifetime,
): Promise<Subscribed | { errors: readonly GraphQLError[] }> {
  const context = args.contextValue as unknown as DoorContext;
  const { req, params } = context;
  const life = lifetime();
  connection.onEnd(life.end);
  // What was lent for finding out what it costs is given back at once.
  const request = lifetime();
  try {
    await admit(door, args, request);
    const admitted = { caller: context.caller!, groups: context.groups ?? [], query: params.query ?? '' };
    return await subscribe(door, args, admitted, req, life);
  } catch (error) {
    life.end();
    throw error;
  } finally {
    context.finish?.();
    request.end();
  }
}

/** The life of the connection that a request is answered on, which understands events: its own, unless it is for another. */
function connectionOf({ req, res, connection }: DoorContext): Lifetime {
  if (connection) return connection;
  requireEventStream(req);
  const own = lifetime();
  res.once('close', own.end);
  return own;
}

/** Subscriptions: let in here, and each answered on its own connection, unless its request is for another. */
function subscriptions(door: GraphqlDoor, open: WeakMap<IncomingMessage, Subscribed>): Plugin<object> {
  return {
    onSubscribe: async ({ args, setSubscribeFn, setResultAndStopExecution }) => {
      const context = args.contextValue as unknown as DoorContext;
      const { req } = context;
      try {
        const connection = connectionOf(context);
        const subscribed = await admitSubscription(door, args as unknown as ExecutionArgs, connection);
        if ('errors' in subscribed) return setResultAndStopExecution({ errors: [...subscribed.errors] });
        open.set(req, subscribed);
        setSubscribeFn(async () => subscribed.answers.source);
      } catch (error) {
        setResultAndStopExecution({
          errors: [error instanceof GraphQLError ? error : refusalOf(door, context, error)],
        });
      }
    },
    onResultProcess: ({ result, serverContext, setResultProcessor }) => {
      const { req, res } = serverContext as unknown as ServerContext;
      const subscribed = open.get(req);
      if (!subscribed || Array.isArray(result) || !(Symbol.asyncIterator in result)) return;
      setResultProcessor(async (_result, fetchApi) => {
        await sendAnswers(subscribed, req, res, (failure) => door.report(req, failure));
        // All of it is said: what is returned is not sent.
        return new fetchApi.Response(null);
      }, 'text/event-stream');
    },
  };
}

/** A result that is sent as `json`, which says the same. */
function asWritten(json: string, result: ExecutionResult): ExecutionResult & { stringify: () => string } {
  return { ...result, stringify: () => json };
}

/** Ends an executed request: says what it cost, and keeps the answer if it is whole. */
function executed(
  context: DoorContext,
  result: AsyncIterable<unknown> | ExecutionResult,
  setResult: (result: ExecutionResult) => void,
  keep: ((json: string) => void) | null,
): void {
  context.finish?.();
  if (context.cost === undefined || Symbol.asyncIterator in result) return;
  const answer = { ...result, extensions: { ...result.extensions, cost: { requests: context.cost } } };
  // A large answer is written in pieces as it is sent, and is too large to keep.
  if (keep === null || answer.errors?.length || isHeavy(answer)) {
    setResult(answer);
    return;
  }
  const json = JSON.stringify(answer);
  keep(json);
  setResult(asWritten(json, answer));
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
      const given = args as unknown as ExecutionArgs;
      const context = args.contextValue as unknown as DoorContext;
      try {
        const requestLife = lifetime();
        context.res.once('close', requestLife.end);
        await admit(door, given, requestLife);
        const key = await keyOf(door, given, context);
        const kept = key === null ? undefined : door.kept.find(key);
        if (kept !== undefined) {
          context.finish?.();
          setResultAndStopExecution(asWritten(kept, {}));
          return;
        }
        const keep = key === null ? null : door.kept.keeper(key);
        setExecuteFn((now) => door.span('operation', {}, () => compiled(now as ExecutionArgs) ?? executeFn(now)));
        return { onExecuteDone: ({ result, setResult }) => executed(context, result, setResult, keep) };
      } catch (error) {
        context.finish?.();
        setResultAndStopExecution({
          errors: [error instanceof GraphQLError ? error : refusalOf(door, context, error)],
        });
      }
    },
    // Whatever door an error came in by, its code is one of the contract's.
    onResultProcess: async ({ result, setResult, serverContext }) => {
      if (Array.isArray(result) || Symbol.asyncIterator in result || !result.errors?.length) return;
      const { req, res } = serverContext as unknown as ServerContext;
      const refused = await chargeRefused(door, { req, res });
      const errors = (refused ? [refused] : result.errors).map((error) =>
        isRefusal(error) ? error : publicError(error, (failure) => door.report(req, failure)),
      );
      door.note(req, { code: String(errors[0]!.extensions.code) });
      setResult(refused ? { errors } : { ...result, errors });
    },
  };
}

/** Writes large results a piece a turn of the event loop; everything else of the response stays Yoga's. */
function largeResults(): Plugin<object> {
  return {
    onResultProcess: ({ request, result, resultProcessor, setResultProcessor }) => {
      if (!resultProcessor || Array.isArray(result) || Symbol.asyncIterator in result) return;
      // What has been written already was not heavy.
      if ('stringify' in result || !isHeavy(result)) return;
      const isResponseJson = request.headers.get('accept')?.includes('application/graphql-response+json') === true;
      setResultProcessor(
        async (large, fetchApi, mediaType) => {
          const bytes = await jsonBytes(large);
          const { status, headers } = await resultProcessor({ data: null }, fetchApi, mediaType);
          headers.delete('content-length');
          return new fetchApi.Response(bytes, { status, headers });
        },
        isResponseJson ? 'application/graphql-response+json' : 'application/json',
      );
    },
  };
}

/** What ends the whole request though nobody refused it: who asks, or what is left of the rate, could not be found out. */
function refusalOf(door: GraphqlDoor, { req }: ServerContext, error: unknown): GraphQLError {
  const failure = error instanceof Failure ? error : internal(error);
  if (failure.status >= 500) door.report(req, failure);
  return refusal(failure);
}

/** An operation for a connection that is open already: what it says, or the subscription that it is. */
function runnerFor(
  door: GraphqlDoor,
  yoga: YogaServerInstance<ServerContext, object>,
  open: WeakMap<IncomingMessage, Subscribed>,
): RunOperation {
  return async (req, res, params, connection) => {
    const context = { req, res, params, connection };
    const { parse, validate, contextFactory, execute, subscribe, schema } = yoga.getEnveloped(context as never);
    const told = async (errors: readonly unknown[]) => {
      const refused = await chargeRefused(door, { req, res });
      return (refused ? [refused] : errors).map((error) =>
        isRefusal(error) ? error : publicError(error, (failure) => door.report(req, failure)),
      );
    };
    try {
      const document = parse(params.query) as DocumentNode;
      const problems = validate(schema, document) as GraphQLError[];
      if (problems.length > 0) return { errors: await told(problems) };
      const operationName = params.operationName ?? null;
      const args = {
        schema,
        document,
        contextValue: await contextFactory(),
        variableValues: params.variables,
        operationName,
      };
      const run = getOperationAST(document, operationName)?.operation === 'subscription' ? subscribe : execute;
      const result = (await run(args)) as ExecutionResult;
      const subscribed = open.get(req);
      // A request may bring several operations.
      open.delete(req);
      if (subscribed) return subscribed;
      return result.errors?.length ? { ...result, errors: await told(result.errors) } : result;
    } catch (error) {
      return { errors: await told([error]) };
    }
  };
}

/** The graph over HTTP. */
export interface GraphqlEndpoints {
  /** `/graphql`: GraphiQL for browsers, and subscriptions each on a connection of its own. */
  yoga: YogaServerInstance<ServerContext, object>;
  /** `/graphql/stream`: many subscriptions on one connection. */
  stream: (request: IncomingMessage, response: ServerResponse) => void;
}

/** The graph's door. */
export function graphqlDoor(door: GraphqlDoor): GraphqlEndpoints {
  const open = new WeakMap<IncomingMessage, Subscribed>();
  const yoga = createYoga<ServerContext>({
    schema: door.schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    logging: false,
    maskedErrors: false,
    // Cross-origin rules are the server's, for both doors alike.
    cors: false,
    plugins: [requestForm(), admission(door) as Plugin<object>, largeResults(), subscriptions(door, open)],
    renderGraphiQL: graphiqlPage(door.aboveGraphiql),
    graphiql: ({ url }) => graphiqlOptions(url, door.now()),
  });
  const charged = (caller: Caller, response: ServerResponse) => charge(door, caller, 1, response);
  return { yoga, stream: singleConnections({ ...door, charge: charged, run: runnerFor(door, yoga, open) }) };
}
