import { randomBytes } from 'node:crypto';
import { execute, GraphQLError, getOperationAST, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../src/access/caller.ts';
import { execute as executeOurs } from '../../src/graphql/execution/execute.ts';
import { PreparedOperation } from '../../src/graphql/execution/prepared-operation.ts';
import { written } from '../../src/graphql/execution/sliced-execution.ts';
import { Pieces } from '../../src/graphql/execution/sliced-work.ts';
import { coerceVariables } from '../../src/graphql/execution/variables.ts';
import { operationWeights } from '../../src/graphql/limits/weighed-operation.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { serviceSettings } from '../../src/platform/config/printed-settings.ts';
import { lifetime } from '../../src/platform/runtime/lifetime.ts';
import type { Failure } from '../../src/platform/wire/failure.ts';
import { jsonBuffers, jsonBytes } from '../../src/platform/wire/json-chunks.ts';
import { contextAsOf, type PastArgs } from '../../src/resolvers/as-of.ts';
import { type RequestContext, requestContext } from '../../src/resolvers/context.ts';
import { failureOf, type StoredForm, type StoredOperation } from '../../src/rest/contract/operation.ts';
import { readParams } from '../../src/rest/contract/params.ts';
import { compiledRoutes } from '../../src/rest/routes.ts';
import { schema } from '../../src/schema/index.ts';
import type { Json, TestApp } from '../support/app.ts';
import { countedData } from '../support/counted-data.ts';
import { filledApp } from '../support/filled-market.ts';
import { type Random, randomOf } from '../support/random.ts';
import { about, type KnownRoute, knownRoutes, saveScreen } from './known-routes.ts';
import { madeRequests } from './requests.ts';

let app: TestApp;
let callers: Caller[];

beforeAll(async () => {
  app = await filledApp();
  const accountId = await app.account();
  const key = await app.access.keys.create({ accountId, name: null, expiresAt: null });
  const credentials = [
    key.key,
    await app.access.sessions.create(accountId, 3_600_000),
    await app.key({ apiTier: 'basic', classification: 'professional' }),
    await app.key({ apiTier: 'free', classification: null }),
  ];
  for (const id of ['none', 'mine']) await saveScreen(app, key.key, id);
  const found = await Promise.all(credentials.map((credential) => app.access.authenticate(credential)));
  callers = found.map((state) => (state.state === 'ok' ? state.caller : expect.fail('a caller who is not let in')));
});
afterAll(() => app.close());

/**
 * Does `work` with a context of its own, as a request does: loaders remember, and what is held is given back at its
 * end, a snapshot of what was known too.
 */
async function inRequest<T>(
  caller: Caller,
  { source }: StoredOperation,
  work: (context: object) => Promise<T> | T,
): Promise<T> {
  const { store, access, clock, live } = app;
  const life = lifetime();
  const now = () => clock.nowMs;
  const services = { store, access, live, now, random: randomBytes, ...serviceSettings(readConfig({})) };
  try {
    const context = requestContext(services, caller, life.onEnd);
    const done = async () => work(context);
    return await (source.includes('asOf(') ? context.ofOneCommit(done, true) : done());
  } finally {
    life.end();
  }
}

const weigh = operationWeights(schema);

type Variables = Record<string, unknown>;

/** Result of a run: the data, or the failure the caller receives. Objects without prototypes equal others. */
interface Result {
  data: Json;
  failure: Pick<Failure, 'status' | 'code' | 'message' | 'details'> | null;
}

const told = ({ status, code, message, details }: Failure) => ({ status, code, message, details });

/** Answer of the server in one form, as JSON. */
async function run(
  form: StoredForm,
  operation: StoredOperation,
  caller: Caller,
  variables: Variables,
): Promise<Result> {
  try {
    const data = await inRequest(caller, operation, (context) => operation.run(form, context, variables));
    return { data: JSON.parse(String(await jsonBytes(data))), failure: null };
  } catch (error) {
    return { data: null, failure: told(error as Failure) };
  }
}

/** The context of an operation's instant: graphql-js knows one context, and these operations read all below `asOf`. */
function ofInstant({ source }: StoredOperation, context: RequestContext, variables: Variables): RequestContext {
  if (!source.includes('asOf(')) return context;
  try {
    const { at, known, tz }: PastArgs = variables;
    return contextAsOf(context, { at: source.includes('asOf(at:') ? at : null, known, tz });
  } catch {
    // The field says what is wrong.
    return context;
  }
}

/** The same by graphql-js, as Yoga runs what it is sent: a variable that has no value is omitted. */
async function interpreted(operation: StoredOperation, caller: Caller, variables: Variables): Promise<Result> {
  const document = parse(operation.source);
  const variableValues = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const { data, errors } = await inRequest(caller, operation, (context) =>
    execute({ schema, document, variableValues, contextValue: ofInstant(operation, context as never, variables) }),
  );
  if (errors?.length) return { data: null, failure: told(failureOf(errors[0]!)) };
  return { data: JSON.parse(JSON.stringify(data)), failure: null };
}

/** The same in pieces, each of a few values. */
async function inPieces(operation: StoredOperation, caller: Caller, variables: Variables): Promise<Result> {
  const { document } = operation;
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  const { coerced, errors: wrong } = await coerceVariables(schema, getOperationAST(document)!, given);
  if (wrong) return { data: null, failure: told(failureOf(wrong[0]!)) };
  const variableValues = coerced!;
  let nowMs = 0;
  const pieces = new Pieces({
    turn: () => new Promise((resolve) => setImmediate(resolve)),
    limits: { characters: Infinity, ms: Infinity },
    now: () => (nowMs += 0.1),
  });
  const prepared = new PreparedOperation(schema, document, null, { isWritten: true, absent: new Set() });
  const { data, errors } = await inRequest(caller, operation, (context) => {
    const contextValue = { ...context, batchSchedule: pieces.batch };
    const values = { rootValue: undefined, contextValue, variableValues };
    return pieces.run(async () => written(await executeOurs(prepared, values, pieces), pieces));
  });
  if (errors.length > 0) return { data: null, failure: told(failureOf(errors[0]!)) };
  const plain: Json = JSON.parse(String(Buffer.concat(jsonBuffers(data!))));
  // The charge is the same, counted in the data or while it was written.
  const { actual } = weigh(document, null).predict(variableValues, caller);
  expect(actual(data)).toEqual(actual(countedData(plain)));
  return { data: plain, failure: null };
}

/** The data without the keys that a route omits where they are null. */
function withoutAbsent({ absent }: KnownRoute['route'], data: Json): Json {
  return JSON.parse(JSON.stringify(data), function (key, value) {
    return value === null && !Array.isArray(this) && absent.includes(key) ? undefined : value;
  });
}

/** The variables the router makes of texts; null when the texts are refused before the graph is asked. */
function variablesOf({ route }: KnownRoute, texts: Record<string, string>, body: unknown): Variables | null {
  try {
    const values = { ...readParams(route.pathParams, texts), ...readParams(route.queryParams, texts) };
    return {
      ...route.variables(values, body),
      protobuf: texts.limit !== undefined,
      provenance: texts.provenance === 'true',
    };
  } catch {
    return null;
  }
}

/** Variable sets of a route, complete, and each with some values null and some omitted. */
function variableSets(known: KnownRoute, random: Random): { complete: Variables[]; holed: Variables[] } {
  const bodies: unknown[] = known.route.body
    ? [known.known.body, ...(known.known.bodies ?? []).map(({ body }) => body)].flatMap((text) => {
        try {
          return [known.route.body!.read(Buffer.from(about(text ?? '{}', 'SPY')))];
        } catch {
          return [];
        }
      })
    : [undefined];
  const complete = madeRequests(known, 5, 7).flatMap(({ texts }): Variables[] =>
    [variablesOf(known, texts, random.pick(bodies))].filter((set) => set !== null),
  );
  const holed = complete.map((set) =>
    Object.fromEntries(
      Object.entries(set).map(([name, value]) => [name, random.once(4) ? random.pick([null, undefined]) : value]),
    ),
  );
  return { complete, holed: holed.filter((set) => requiredAreThere(known, set)) };
}

const operationOf = ({ route: { name } }: KnownRoute): StoredOperation =>
  compiledRoutes.find(({ route }) => route.name === name)!.operation;

/** A variable that must have a value and has none is refused by both, each in its own words: that is another test. */
function requiredAreThere(known: KnownRoute, set: Variables): boolean {
  const { document } = operationOf(known);
  const definition = document.definitions.find((node) => node.kind === 'OperationDefinition')!;
  if (definition.kind !== 'OperationDefinition') return false;
  return (definition.variableDefinitions ?? []).every(
    ({ type, variable }) => type.kind !== 'NonNullType' || set[variable.name.value] != null,
  );
}

/** Operations that read, so that running them twice is running them once. */
const reading = knownRoutes().filter(({ route }) => route.method === 'GET');

describe('a stored operation gives what graphql-js gives, in each form of its answer and in pieces', () => {
  test.each(reading)('$name', async (known) => {
    const operation = operationOf(known);
    const random = randomOf(11);
    const outcomes = new Set<string>();
    // A list of expirations says whether it was kept from before: the first asking keeps it.
    const { complete, holed } = variableSets(known, random);
    await interpreted(operation, callers[0]!, complete[0]!);
    // A set is run in two of the forms, with its holes in the other two: a value meets all four.
    const halves = [
      { sets: complete, isEven: true },
      { sets: holed, isEven: false },
    ];
    for (const { variables, isFirstPair } of halves.flatMap(({ sets, isEven }) =>
      sets.map((variables, i) => ({ variables, isFirstPair: (i % 2 === 0) === isEven })),
    )) {
      const caller = random.once(3) ? random.pick(callers) : callers[random.below(2)]!;
      const first = forgetCached(await interpreted(operation, caller, variables));
      const [unwritten, lean] = [
        isFirstPair ? await run('whole', operation, caller, variables) : await inPieces(operation, caller, variables),
        await run(isFirstPair ? 'values' : 'json', operation, caller, variables),
      ].map(forgetCached);
      // A route may have words of its own for a wrong variable.
      if (known.route.invalidVariables && first.failure?.code === 'internal') {
        expect(lean!.failure?.code, JSON.stringify(variables)).toBe('invalid_params');
        continue;
      }
      expect(unwritten, JSON.stringify(variables)).toStrictEqual(first);
      expect(lean, JSON.stringify(variables)).toStrictEqual({
        ...first,
        data: withoutAbsent(known.route, first.data),
      });
      outcomes.add(first.failure ? String(first.failure.status) : 'data');
    }
    expect(outcomes).toContain('data');
  });

  const changing = knownRoutes().filter(({ route }) => route.method !== 'GET');
  test.each(changing)('$name, each run with an account of its own', async (known) => {
    const operation = operationOf(known);
    const { complete, holed } = variableSets(known, randomOf(5));
    for (const variables of [...complete, ...holed]) {
      const results: Result[] = [];
      const ours = (...asked: Parameters<typeof interpreted>) => run('whole', ...asked);
      for (const each of [interpreted, ours]) {
        const accountId = await app.account();
        const id = known.known.prepare ? await known.known.prepare(app, accountId) : null;
        const state = await app.access.authenticate(await app.access.sessions.create(accountId, 60_000));
        if (state.state !== 'ok') return expect.fail('not let in');
        const own = 'id' in variables && id !== null ? { ...variables, id } : variables;
        results.push(forgetMade(await each(operation, state.caller, own)));
      }
      // A route may have words of its own for a wrong variable.
      if (known.route.invalidVariables && results[0]!.failure?.code === 'internal')
        expect(results[1]!.failure?.code, JSON.stringify(variables)).toBe('invalid_params');
      else expect(results[1], JSON.stringify(variables)).toStrictEqual(results[0]);
    }
  });

  test('a variable of the wrong type is a 400 of code invalid_params either way', async () => {
    for (const known of reading) {
      const operation = operationOf(known);
      const usual = variablesOf(known, madeRequests(known, 0)[0]!.texts, undefined) ?? {};
      for (const name of operation.variables) {
        for (const wrong of [{}, ['x', {}], true, 1e300, 'no such value \u0000']) {
          const variables = { ...usual, [name]: wrong };
          const [first, second] = [
            await interpreted(operation, callers[0]!, variables),
            await run('json', operation, callers[0]!, variables),
          ];
          const outcome = ({ failure }: Result) => `${failure?.status} ${failure?.code}`;
          const what = `${known.name} ${name} ${JSON.stringify(wrong)}: ${second.failure?.message}, ${first.failure?.message}`;
          // A route may have words of its own for it.
          const isOwn = known.route.invalidVariables !== undefined && second.failure !== null;
          expect(outcome(second), what).toBe(isOwn ? '400 invalid_params' : outcome(first));
        }
      }
    }
  });
});

/** Clears `cached`, which depends on earlier requests. */
function forgetCached(result: Result): Result {
  const meta = result.data?.asOf?.symbol?.expirations?.meta;
  if (meta) meta.cached = null;
  return result;
}

/** Replaces keys, tickets and ids, which each run makes again. */
function forgetMade(result: Result): Result {
  const text = JSON.stringify(result)
    .replace(/tg_live_\w{4,}/g, 'tg_live_made')
    .replace(/"[0-9A-HJKMNP-TV-Z]{26}"/g, '"made"')
    .replace(/"ticket":"[\w-]{43}"/g, '"ticket":"made"')
    .replace(/"id-\d+"/g, '"prepared"');
  return JSON.parse(text) as Result;
}

describe('a document that comes again gives what it gave before', () => {
  test.each(reading)('$name', async (known) => {
    const { source } = operationOf(known);
    const credential = await app.session();
    for (const request of madeRequests(known, 0, 3).slice(0, 4)) {
      const variables = variablesOf(known, request.texts, undefined);
      if (variables === null) continue;
      const operation = operationOf(known);
      const complete = Object.fromEntries(operation.variables.map((name) => [name, variables[name] ?? null]));
      const answers: Json[] = [];
      for (let i = 0; i < 3; i++) {
        const { data, errors } = await app.graphql(source, complete, { credential });
        answers.push(forgetCached({ data: forgetUsage(data), failure: (errors as never) ?? null }));
      }
      expect(answers[1], JSON.stringify(variables)).toStrictEqual(answers[0]);
      expect(answers[2], JSON.stringify(variables)).toStrictEqual(answers[0]);
    }
  });
});

/** Usage grows with every request. */
function forgetUsage(data: Json): Json {
  if (data?.me?.usage?.by_day) Object.assign(data.me.usage, { by_day: null, totals_by_scope_group: null });
  return data;
}

test('an error of the graph is told as what it is, and nothing of an unexpected one leaks', () => {
  const leak = failureOf(new GraphQLError('select secret', { originalError: new Error('select secret') }));
  expect([leak.status, leak.code, leak.message.includes('secret')]).toEqual([500, 'internal', false]);
});
