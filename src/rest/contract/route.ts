import { exchangeTimeZone } from '../../core/domain/market-time.ts';
import { isMarketGroup } from '../../core/domain/screener.ts';
import type { Tier } from '../../platform/config/tiers.ts';
import type { Failure } from '../../platform/wire/failure.ts';
import { type Needs, needsOfGroup, type UsageGroup } from '../../schema/field-options.ts';
import type { BodyReader } from './body.ts';
import { type Example, exampleOf } from './example.ts';
import type { OperationTraits } from './operation.ts';
import { answerFormat, known, type Params, type ParamValues, pointInTime, timeZone } from './params.ts';
import type { ProtobufMessage } from './protobuf.ts';
import type { Instant } from './selection.ts';

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
export interface Route extends OperationTraits {
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
   * together are the data, and `meta`.
   */
  answer: string;
  /** The operation's variables from the parameters. */
  variables: (values: Record<string, unknown>, body: unknown) => Record<string, unknown>;
  /** Instants that it is read as of; null = it takes none. */
  instant: Instant | null;
  /** Number of rows that a request asks for; absent = at most 1,000, which cost one request. */
  rowsAsked?: (values: Readonly<Record<string, unknown>>) => number;
  /** Its answers depend on data of the account: they are cached for no other caller, whatever their rights. */
  isOwn?: true;
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

/** The path of a route as people write it: `{name}` are its parameters. */
export const writtenPath = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** True if a route reads market data. */
export const readsMarket = (route: Route): boolean => usageGroups(route).some(isMarketGroup);

/** Values of the declared parameters by their types, of the others as they are read. */
type Values<P extends Params> = ParamValues<P> & Readonly<Record<string, unknown>>;

/**
 * Settings of a route: all that does not follow from its operation. The operation, in `operation` below `routes/`, is
 * written as of now and without metadata.
 */
export type RouteSettings<P extends Params = Params> = Pick<
  Route,
  'name' | 'path' | 'summary' | 'scopeGroup' | 'operation' | 'graphql'
> &
  Partial<Omit<Route, 'pathParams' | 'queryParams' | 'variables' | 'example' | 'instant'>> & {
    example?: Partial<Example>;
    /** Parameters that are read otherwise than by the type of the variable of their name, or that have none. */
    params?: P;
    /** Variables that are no parameters of their names. Undefined leaves one out. */
    variables?: Readonly<Record<string, (values: Values<P>, body: unknown) => unknown>>;
    /** Read as of an instant; `null` = not. Default: a route of market data is. */
    instant?: Instant | null;
    /** Fields of the graph's `meta` that the contract's does not have. */
    withoutMeta?: readonly string[];
    /** True if `meta.caps` says whether option flow is granted. */
    reportsFlow?: true;
    /** Name of the list that tables contain unless a request names another; required if there are several. */
    table?: string;
  };

/** Declares a route. */
export const route = <P extends Params>(settings: RouteSettings<P>): RouteSettings => settings as RouteSettings;

/** The instant as of which a route of market data answers. */
const instantParams: Params = { at: pointInTime.optional(), tz: timeZone.optional() };
const knownParam: Params = { known: known.optional() };
const textParam: Params = { format: answerFormat.optional() };

/** The parameters of a route's instants. */
const instantsOf = (instant: Instant | null): Params => ({
  ...(instant && instant !== 'own at' && instantParams),
  ...(instant && instant !== 'without known' && knownParam),
});

/** The values of the variables of a route's instants. */
function instantValues(instant: Instant | null, values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  if (instant === null) return {};
  return {
    tz: values.tz ?? exchangeTimeZone,
    ...(instant !== 'own at' && { at: values.at ?? null }),
    ...(instant !== 'without known' && { known: values.known ?? null }),
  };
}

/** Rows that one request may ask for. */
const rowsARequest = 1000;

/** Requests that a request for rows costs: one, and one more for each begun 1,000 rows above 1,000. */
export function requestsOfRows({ rowsAsked }: Pick<Route, 'rowsAsked'>, values: Record<string, unknown>): number {
  return Math.max(1, Math.ceil((rowsAsked?.(values) ?? 0) / rowsARequest));
}

/** The requests of a route: its parameters, and the variables that they become. */
export interface RouteRequests extends Pick<Route, 'variables'> {
  params: Params;
}

/** Settings that the row has as they are. */
export type RowSettings = Omit<
  RouteSettings,
  'params' | 'variables' | 'withoutMeta' | 'reportsFlow' | 'table' | 'instant'
> &
  Pick<Route, 'instant'>;

/** The row of the route table of settings and of the requests that follow from its operation. */
export function routeRow({ example = {}, ...settings }: RowSettings, { params: own, variables }: RouteRequests): Route {
  const { instant, answer = '', scopeGroup, path } = settings;
  const params: Params = { ...own, ...instantsOf(instant), ...(settings.text && textParam) };
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map((match) => match[1]!));
  const pick = (wanted: boolean): Params =>
    Object.fromEntries(Object.entries(params).filter(([name]) => inPath.has(name) === wanted));
  return {
    method: 'GET',
    description: '',
    absent: [],
    listsTokenExpired: false,
    inFlightLimited: false,
    aboutSessions: false,
    errors: [],
    needs: needsOfGroup[scopeGroup] ?? 'any',
    symbolRule: symbolRuleOfGroup[scopeGroup] ?? 'none',
    ...settings,
    // As of an instant in a past session, each of them is about sessions that are over.
    ...(instant && { aboutSessions: true }),
    answer: instant ? `asOf.${answer}` : answer,
    example: exampleOf(path, example),
    pathParams: pick(true),
    queryParams: pick(false),
    variables: (values, body) => ({ ...variables(values, body), ...instantValues(instant, values) }),
  };
}
