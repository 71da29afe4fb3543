import { isMarketGroup } from '../../domain/market-group.ts';
import { exchangeTimeZone } from '../../domain/market-time.ts';
import type { Tier } from '../../domain/tier.ts';
import type { UsageGroup } from '../../schema/field-options.ts';
import { type Needs, needsOfGroup } from '../../schema/needs.ts';
import type { Failure } from '../../wire/failure.ts';
import type { BodyReader } from './body.ts';
import { type Example, exampleOf } from './example.ts';
import { answerFormat, known, type Params, type ParamValues, pointInTime, timeZone } from './params.ts';
import type { ProtobufMessage } from './protobuf.ts';

/**
 * Groups of usage, and OpenAPI's tags (contract-notes 2). `own` is the tag of the operator's routes; their usage counts
 * in the groups of their fields.
 */
export type ScopeGroup = UsageGroup | 'own';

/**
 * Requirements on the symbol of a route (contract-notes 1 and 2). `none`: none, or the route has no symbol. `entry`:
 * registered. `registered`: registered and readable. `known`: a real ticker and readable. `readable`: readable, if it
 * is a ticker at all. `row`: none, but the row is empty if the symbol is not readable. `writable`: 400 unless
 * registered and readable.
 */
export type SymbolRule = 'none' | 'entry' | 'registered' | 'known' | 'readable' | 'row' | 'writable';

/** Default requirements on the symbol of a group's routes. They document the rule; the resolvers enforce it. */
const symbolRuleOfGroup: Partial<Record<ScopeGroup, SymbolRule>> = {
  'market.live': 'readable',
  'market.bars': 'known',
  'analytics.gex': 'readable',
  'analytics.vol': 'readable',
  'analytics.flow': 'registered',
  'analytics.offexchange': 'known',
};

/** Traits of a route of the operator. */
export interface OwnTraits {
  /** Groups that its usage counts in: those of the fields that it reads. */
  groups: readonly string[];
  /** Lowest tier of its callers. */
  tier: Tier;
  /** Requirements of the fields that it reads. */
  needs: readonly Needs[];
  /**
   * Answers that never change once what they are about is over: those whose meta says so, those as of an instant alone,
   * or none.
   */
  sealed: 'by-meta' | 'as-of' | 'never';
  /** Differs for another text of its files: answers of another version are not reused. */
  version: string;
  /** The operation's variable of each parameter. */
  variableOf: Readonly<Record<string, string>>;
}

/** One row of the route table: maps a REST request to a stored operation, and its answer to a body. */
export interface Route {
  /** Its name for clients: OpenAPI's `operationId`, and the MCP tool's name with `_` for `-`. It never changes. */
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Express path; `:name` are parameters of `path`. */
  path: string;
  summary: string;
  description: string;
  scopeGroup: ScopeGroup;
  /** Requirements on its callers. */
  needs: Needs;
  /** Requirements on its symbol. */
  symbolRule: SymbolRule;
  /** The request that the reference page shows and the contract tests send. */
  example: Example;
  /** The same question as a short GraphQL query, with the braces of `example`. */
  graphql: string;
  /** Path parameters. */
  pathParams: Params;
  /** Query parameters. */
  queryParams: Params;
  /** Reader of the request's body; absent if there is none. */
  body?: BodyReader;
  /** The operation's file below `routes/`. */
  operation: string;
  /**
   * Path of the answer in the operation's result; '' for the result itself. It selects `data`, or the fields that
   * together are the data. `meta` is added: all of it, under the names of REST; what an operation selects of it itself
   * stays as it is.
   */
  answer: string;
  /** Fields of the graph's `meta` that the contract's does not have. */
  withoutMeta?: readonly string[];
  /** True if `meta.caps` says whether option flow is granted. */
  reportsFlow?: true;
  /** The operation's variables from the parameters. Every declared variable gets a value: null if absent. */
  variables: (values: Record<string, unknown>, body: unknown) => Record<string, unknown>;
  /**
   * The error of variables that the operation's types reject, in the contract's words; null = the type's own error,
   * whose message is `problem`.
   */
  invalidVariables?: (variables: Readonly<Record<string, unknown>>, problem: string) => Failure | null;
  /**
   * Takes `at`, `known` and `tz`: its operation reads the market below `asOf`, by the variables of these names, and
   * `answer` lies there. `without known`: data as it was known before is not kept, and `known` is 400. `own at`: fields
   * below take `at` and `tz`, so only `known` is added.
   */
  hasInstant?: true | 'without known' | 'own at';
  /** Number of rows that a request asks for; absent = at most 1,000, which cost one request. */
  rowsAsked?: (values: Readonly<Record<string, unknown>>) => number;
  /** Its answers depend on data of the account: they are cached for no other caller, whatever their rights. */
  isOwn?: true;
  /** Keys of `data` and its rows that are absent, not null, when unknown. */
  absent: readonly string[];
  /** True if it answers `token_expired` for an expired credential; other routes answer `unauthenticated`. */
  listsTokenExpired: boolean;
  /** True if the number of its requests in flight is limited per API key (spec 8). */
  inFlightLimited: boolean;
  /** True if its answers about past sessions never change: they carry an ETag, and If-None-Match is answered 304. */
  aboutSessions: boolean;
  /** The error of a failed source, if it is not 502 `internal`. */
  sourceFailure?: (cause: unknown) => Failure;
  /** Statuses of its answers, besides 200 and 401. */
  errors: readonly number[];
  /**
   * Hints for AI clients about a change that do not follow from its method: it cannot be undone, or repeating it has no
   * further effect.
   */
  hints?: { destructive?: true; idempotent?: true };
  /**
   * Not a tool of MCP: rarely asked for, where the tool `graphql` serves. `in any mode`: of no use to an AI client, so
   * that the tool `run` of its small mode does not run it either.
   */
  withoutTool?: true | 'in any mode';
  /** The message of its answer for `Accept: application/x-protobuf`. */
  protobuf?: ProtobufMessage;
  /** Its data as a text, for `Accept: text/plain`. It takes `format` then, which comes before Accept. */
  text?: (data: unknown) => string;
  /** Headers of every success answer. */
  headers?: (values: Record<string, unknown>) => Record<string, string>;
  /** Set for a route of the operator; absent: the route is the contract's. */
  own?: OwnTraits;
  /** The instant at which the route is removed, and its replacement. */
  sunset?: { atMs: number; successor: string };
}

/** The date at the end of which a route ended, if it has by `nowMs`, epoch ms; else null. */
export function endedOn({ sunset }: Pick<Route, 'sunset'>, nowMs: number): string | null {
  return sunset && nowMs > sunset.atMs ? new Date(sunset.atMs).toISOString().slice(0, 10) : null;
}

/** Groups that the usage of a route counts in. */
export const usageGroups = ({ own, scopeGroup }: Route): readonly string[] => own?.groups ?? [scopeGroup];

/** True if a route reads market data. */
export const readsMarket = (route: Route): boolean => usageGroups(route).some(isMarketGroup);

type Written = Pick<Route, 'name' | 'path' | 'summary' | 'scopeGroup' | 'operation' | 'graphql'> &
  Partial<Omit<Route, 'pathParams' | 'queryParams' | 'variables' | 'example'>> & { example?: Partial<Example> };

/** The instant as of which a route of market data answers. */
const instantParams = { at: pointInTime.optional(), tz: timeZone.optional() };
const knownParam = { known: known.optional() };
const textParam = { format: answerFormat.optional() };

/** The parameters of a route's instants. */
function instantsOf({ hasInstant }: Pick<Route, 'hasInstant'>): Params {
  if (hasInstant === undefined) return {};
  return {
    ...(hasInstant !== 'own at' && instantParams),
    ...(hasInstant !== 'without known' && knownParam),
  };
}

/** The variables of a route's instants. */
function instantVariables(
  { hasInstant }: Pick<Route, 'hasInstant'>,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (hasInstant === undefined) return {};
  return {
    ...(hasInstant !== 'own at' && { at: values.at ?? null, tz: values.tz ?? exchangeTimeZone }),
    ...(hasInstant !== 'without known' && { known: values.known ?? null }),
  };
}

/** Rows that one request may ask for. */
const rowsARequest = 1000;

/** Requests that a request for rows costs: one, and one more for each begun 1,000 rows above 1,000. */
export function requestsOfRows({ rowsAsked }: Pick<Route, 'rowsAsked'>, values: Record<string, unknown>): number {
  return Math.max(1, Math.ceil((rowsAsked?.(values) ?? 0) / rowsARequest));
}

/** Declares a route. Without `variables`, each parameter is the operation's variable of the same name in camelCase. */
export function route<P extends Params>(
  written: Written & { params: P; variables?: (values: ParamValues<P>, body: unknown) => Record<string, unknown> },
): Route {
  const { params: own, variables, example = {}, ...rest } = written;
  const params: Params = {
    ...own,
    ...instantsOf(rest),
    ...(rest.text && textParam),
  };
  const inPath = new Set([...written.path.matchAll(/:(\w+)/g)].map((match) => match[1]!));
  const pick = (wanted: boolean): Params =>
    Object.fromEntries(Object.entries(params).filter(([name]) => inPath.has(name) === wanted));
  return {
    method: 'GET',
    description: '',
    answer: '',
    absent: [],
    listsTokenExpired: false,
    inFlightLimited: false,
    aboutSessions: false,
    errors: [],
    needs: needsOfGroup[written.scopeGroup] ?? 'any',
    symbolRule: symbolRuleOfGroup[written.scopeGroup] ?? 'none',
    ...rest,
    // As of an instant in a past session, each of them is about sessions that are over.
    ...(rest.hasInstant && { answer: `asOf.${rest.answer}`, aboutSessions: true }),
    example: exampleOf(written.path, example),
    pathParams: pick(true),
    queryParams: pick(false),
    variables: (values, body) => ({
      ...(variables ? variables(values as ParamValues<P>, body) : camelCased(values, body)),
      ...instantVariables(rest, values),
    }),
  };
}

function camelCased(values: Record<string, unknown>, body: unknown): Record<string, unknown> {
  const camel = Object.entries(values).map(([name, value]) => [
    name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  return { ...Object.fromEntries(camel), ...(body === undefined ? {} : { body }) };
}
