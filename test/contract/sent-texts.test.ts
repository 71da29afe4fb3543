import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { knownTicker } from '../../src/rest/contract/params.ts';
import { schema } from '../../src/schema/index.ts';
import { type Answer, type Json, type TestApp, testApp } from '../support/app.ts';
import { filledNowMs } from '../support/filled-market.ts';
import { about, type KnownRoute, knownRoutes, textsOf } from './known-routes.ts';
import { pathOf } from './requests.ts';

let app: TestApp;
let credential: string;
const logLines: string[] = [];
beforeAll(async () => {
  app = await testApp({ nowMs: filledNowMs, env: { LOG_LEVEL: 'info' }, logLines });
  credential = await app.session();
});
afterAll(async () => {
  // None of this is a defect of the server.
  expect(logLines).toEqual([]);
  await app.close();
});

const unstorable = { NUL: 'a\u0000b', 'half a pair': 'a\ud800' };

function expectNamed(answer: Answer, parameter: string, about: unknown): void {
  const { code, details, message } = answer.body?.error ?? {};
  expect({ about, status: answer.status, code, details }).toEqual({
    about,
    status: 400,
    code: 'invalid_params',
    details: { parameter },
  });
  expect(message).toMatch(new RegExp(`^${parameter}: `));
}

describe('a text that cannot be stored', () => {
  const names = ({ route }: KnownRoute) => Object.keys({ ...route.pathParams, ...route.queryParams });
  const parameters = knownRoutes().flatMap((known) => names(known).map((name) => [known.name, name, known] as const));

  test.each(parameters)('%s: %s is invalid_params and named, or not found', async (_route, name, known) => {
    const texts = Object.fromEntries(names(known).map((other) => [other, textsOf(known, other)[0]!]));
    const path = pathOf(known, { ...texts, [name]: unstorable.NUL });
    const body = known.known.body && about(known.known.body, 'SPY');
    const { contentType } = known.known;
    const sending = { credential, ...(body && { body }), ...(contentType && { contentType }) };
    const answer = await app.send(known.route.method, path, sending);
    // Where a malformed ticker is not found, this one is not either.
    if (known.route.pathParams[name] === knownTicker) expect([path, answer.status]).toEqual([path, 404]);
    else expectNamed(answer, name, path);
  });

  /** The fields of a JSON body that hold text, with a whole body that is good but for that field. */
  const fieldsOf = ({ route, known }: KnownRoute): [field: string, body: (text: string) => string][] => {
    if (!route.body?.mediaTypes.some((type) => type.endsWith('json'))) return [];
    const sample: Json = JSON.parse(known.body ? about(known.body, 'SPY') : '{}');
    const described = Object.entries((route.body.schema.properties ?? {}) as Record<string, Json>);
    const holdsText = (inner: Json): boolean =>
      [inner.type].flat().includes('string') ||
      (inner.items ? holdsText(inner.items) : false) ||
      (inner.anyOf ?? []).some(holdsText);
    const fields = new Set([
      ...described.filter(([, inner]) => holdsText(inner)).map(([field]) => field),
      ...Object.keys(sample).filter((field) => typeof sample[field] === 'string'),
      ...(route.method === 'PATCH' ? ['note', 'name'] : []),
    ]);
    return [...fields].map((field) => [
      field,
      (text) => JSON.stringify({ ...sample, [field]: Array.isArray(sample[field]) ? [text] : text }),
    ]);
  };
  const bodies = knownRoutes().flatMap((known) =>
    fieldsOf(known).flatMap(([field, body]) =>
      Object.entries(unstorable).map(([what, text]) => [known.name, field, what, known, body(text)] as const),
    ),
  );

  test.each(bodies)(
    '%s: %s of the body with %s is invalid_params and named',
    async (_route, field, _what, known, body) => {
      const path = about(known.known.path, 'SPY', 'x1');
      expectNamed(await app.send(known.route.method, path, { credential, body }), field, path);
    },
  );
});

/** A value of a type, as a literal: good ones, so that nothing else is wrong with the document. */
const literals: Record<string, string> = {
  Int: '1',
  Float: '1',
  Boolean: 'true',
  Long: '1',
  EpochMs: '1',
  StrikeThousandths: '1',
  Ticker: '"SPY"',
  SessionDate: '"2026-11-30"',
  PointInTime: '"2026-11-30"',
  CapturePoint: '"2026-11-30"',
  TimeZone: '"UTC"',
  ClockTime: '"09:30"',
  Timeframe: '"1m"',
  OptionTimeframe: '"1m"',
  OptionContractId: '"O:SPY261218C00600000"',
  Instrument: '"SPY"',
};
function literalOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literalOf(type.ofType);
  if (isListType(type)) return `[${literalOf(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]!.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => isNonNullType(field.type));
    return `{ ${required.map((field) => `${field.name}: ${literalOf(field.type)}`).join(', ')} }`;
  }
  return literals[type.name] ?? '"x"';
}

const isText = (type: GraphQLInputType) => {
  const named = getNamedType(type);
  return (
    isScalarType(named) && !['Int', 'Float', 'Boolean', 'Long', 'EpochMs', 'StrikeThousandths'].includes(named.name)
  );
};

/** A selection from a root to a field. */
interface Found {
  type: GraphQLObjectType;
  wrap: (selection: string) => string;
}

const written = (args: readonly GraphQLArgument[]) => {
  const required = args.filter((arg) => isNonNullType(arg.type) && arg.defaultValue === undefined);
  return required.map((arg) => `${arg.name}: ${literalOf(arg.type)}`);
};

/** The shortest way to every object type of the schema. */
function allTypes(): Found[] {
  const roots = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!];
  const words = ['query', 'mutation', 'subscription'];
  const found: Found[] = roots.map((type, i) => ({ type, wrap: (selection) => `${words[i]} V { ${selection} }` }));
  const seen = new Set<GraphQLObjectType>(roots);
  for (const { type, wrap } of found) {
    for (const field of Object.values(type.getFields())) {
      const below = getNamedType(field.type);
      if (!isObjectType(below) || seen.has(below)) continue;
      seen.add(below);
      const args = written(field.args);
      const call = args.length > 0 ? `${field.name}(${args.join(', ')})` : field.name;
      found.push({ type: below, wrap: (selection) => wrap(`${call} { ${selection} }`) });
    }
  }
  return found;
}

/** Every argument that takes text, or holds a field that does: with how a value is written in its place. */
function textArguments() {
  return allTypes().flatMap(({ type, wrap }) =>
    Object.values(type.getFields()).flatMap((field) =>
      field.args.flatMap((arg) => {
        const named = getNamedType(arg.type);
        const places = isInputObjectType(named)
          ? Object.values(named.getFields()).filter((inner) => isText(inner.type))
          : isText(arg.type)
            ? [null]
            : [];
        return places.map((inner) => {
          const others = written(field.args.filter((other) => other !== arg));
          const leaf = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
          const document = (value: string) =>
            wrap(`${field.name}(${[...others, `${arg.name}: ${value}`].join(', ')})${leaf}`);
          return {
            name: `${type.name}.${field.name}(${arg.name}${inner ? `.${inner.name}` : ''})`,
            arg,
            inner,
            document,
          };
        });
      }),
    ),
  );
}

/** The errors of an answer, in JSON or in the only event of a stream. */
function errorsOf({ bytes }: Answer): Json[] {
  const text = bytes.toString();
  return JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text).errors ?? [];
}

describe('an argument of the graph that cannot be stored', () => {
  const all = textArguments();
  test('there are as many as expected of the schema', () => expect(all.length).toBeGreaterThan(60));

  test.each(all)('$name is invalid_params and named, literal or variable', async ({ arg, inner, document }) => {
    const parameter = inner?.name ?? arg.name;
    const headers = { accept: 'application/json, text/event-stream' };
    const literal = '"a\\u0000b"';
    const inList = (type: GraphQLInputType) => isListType(isNonNullType(type) ? type.ofType : type);
    const wrapped = inList(inner?.type ?? arg.type) ? `[${literal}]` : literal;
    const body = JSON.stringify({ query: document(inner ? `{ ${inner.name}: ${wrapped} }` : wrapped) });
    const byLiteral = errorsOf(await app.send('POST', '/graphql', { credential, headers, body }));
    expect(byLiteral.map((error) => error.extensions.code)).toEqual(byLiteral.map(() => 'invalid_params'));
    expect(byLiteral.map((error) => error.extensions.details?.parameter)).toContain(parameter);
    for (const text of Object.values(unstorable)) {
      const variables = { [arg.name]: inner ? { [inner.name]: text } : text };
      const query = document(`$${arg.name}`).replace(' V ', ` V($${arg.name}: ${arg.type}) `);
      const sent = JSON.stringify({ query, variables });
      const byVariable = errorsOf(await app.send('POST', '/graphql', { credential, headers, body: sent }));
      expect(byVariable.map((error) => error.extensions)).toEqual([
        { code: 'invalid_params', details: { parameter: arg.name } },
      ]);
    }
  });
});
