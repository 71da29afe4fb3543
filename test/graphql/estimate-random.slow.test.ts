import { getOperationAST, parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Estimate } from '../../src/graphql/estimate.ts';
import { coerceVariables } from '../../src/graphql/execution/variables.ts';
import { operationWeights } from '../../src/graphql/limits/weighed-operation.ts';
import { weights } from '../../src/graphql/limits/weight.ts';
import { schema } from '../../src/schema/index.ts';
import type { FuzzDocument } from '../fuzz/documents.ts';
import { documentOf, restrictedDocument } from '../fuzz/graph-requests.ts';
import type { Grammar } from '../fuzz/request.ts';
import type { Json, TestApp } from '../support/app.ts';
import { countedData } from '../support/counted-data.ts';
import { filledApp } from '../support/filled-market.ts';
import { randomOf } from '../support/random.ts';

const seed = Number(process.env.ESTIMATE_SEED ?? 20_261_126);
const count = Number(process.env.ESTIMATE_COUNT ?? 2000);

let app: TestApp;
/** Credentials of every kind of rights. */
let callers: { credential: string | null; kind: 'key' | 'session' }[];
beforeAll(async () => {
  app = await filledApp();
  callers = [
    { credential: await app.key(), kind: 'key' },
    { credential: await app.session(), kind: 'session' },
    { credential: await app.key({ apiTier: 'basic' }), kind: 'key' },
    { credential: await app.session({ siteTier: 'free' }), kind: 'session' },
    { credential: await app.key({ classification: null }), kind: 'key' },
    { credential: null, kind: 'key' },
  ];
});
afterAll(() => app.close());

const weigh = operationWeights(schema);

/** The operation that is asked of a document, if it has a name. */
const nameOf = (text: string) => (/^(query|mutation) Q\b/.test(text) ? 'Q' : null);

/** Points of an answer as they are counted, before the maximum bounds what is charged. */
async function countedPoints({ text, variables }: FuzzDocument, { data, errors = [] }: Json, kind: 'key' | 'session') {
  const document = parse(text);
  const { coerced } = await coerceVariables(schema, getOperationAST(document, nameOf(text))!, variables);
  const { actual } = weigh(document, nameOf(text)).predict(coerced!, { kind });
  return actual(countedData(data)).points + errors.length * weights.error;
}

/** Codes that depend on who asks. */
const rights = ['not_entitled_tier', 'attestation_required'];

interface Compared {
  estimate: Estimate;
  answer: Json;
  /** Requests that the answer took. */
  consumed: number;
  /** Points that were counted, before they were bounded. */
  counted: number;
}

/** Problem of the price of an estimate; null = none. */
function wrongPrice({ estimate: { maximum }, consumed, counted }: Compared): string | null {
  if (consumed > maximum.requests) return `took ${consumed} requests, at most ${maximum.requests}`;
  return Math.ceil(counted) > maximum.points ? `took ${counted} points, at most ${maximum.points}` : null;
}

/** Problem of the rejection of an operation, compared with its estimate; null = none. */
function wrongRejection({ estimate: { refused }, answer }: Compared): string | null {
  const whole = refused.filter(({ path }) => path === null);
  if (answer.data) return whole[0] ? `should have been rejected: ${whole[0].message}` : null;
  const [{ message, extensions, path }] = answer.errors;
  // A field that cannot be null failed while it ran.
  if (path) return null;
  const isForeseen = whole.some((each) => each.code === extensions.code && each.message === message);
  return isForeseen ? null : `was rejected with ${extensions.code}: ${message}`;
}

/** The fields that were refused for the caller's rights and are not in the estimate. */
function unforeseen({ estimate: { refused, undecided }, answer }: Compared): string[] {
  const foreseen = new Set([...refused.map(({ path, code }) => `${path} ${code}`)]);
  return (answer.errors ?? [])
    .filter(({ extensions }: Json) => rights.includes(extensions.code))
    .map(({ path, extensions }: Json) => ({
      path: path.filter((key: unknown) => typeof key === 'string').join('.'),
      code: extensions.code,
    }))
    .filter(({ path, code }: Json) => !foreseen.has(`${path} ${code}`) && !undecided.includes(path))
    .map(({ path, code }: Json) => `${path}: ${code} was not foreseen`);
}

/** Values of an answer at a path; lists are entered. Null is among them. */
function valuesAt(data: Json, path: string): Json[] {
  const step = (values: Json[], key: string) =>
    values.flatMap((value) => [value].flat(9)).map((value) => (value === null ? null : value?.[key]));
  return path.split('.').reduce(step, [data]);
}

/**
 * True if an answer is as long as its estimate expects: no field is null, and each list whose length is given has it.
 */
function isFull({ fields, fieldsOmitted }: Estimate, data: Json): boolean {
  if (fieldsOmitted > 0) return false;
  return fields.every(({ path, items }) => {
    const values = valuesAt(data, path);
    if (values.includes(null) || values.includes(undefined)) return false;
    return !items || values.flat(9).length >= items.expected!;
  });
}

test(`${count} documents cost no more than their maximum, and are rejected as their estimate says; seed ${seed}`, async () => {
  const found: string[] = [];
  const seen = { answered: 0, rejected: 0, refused: 0, full: 0 };

  async function one(index: number) {
    const random = randomOf(seed + index);
    const grammar: Grammar = { random, today: '2026-12-01', heavy: true };
    const document = random.once(5)
      ? restrictedDocument(grammar, schema).document
      : documentOf(grammar, schema, ['query', 'query', 'query', 'mutation']);
    const { text: query, variables } = document;
    const { credential, kind } = random.pick(callers);
    const sending = { credential, body: JSON.stringify({ query, variables, operationName: nameOf(query) }) };
    const wrong = (what: string) => found.push(`#${index} ${what}\n    ${sending.body.slice(0, 1000)}`);
    const asked = await app.send('POST', '/graphql?cost', sending);
    const sent = await app.send('POST', '/graphql', sending);
    // A body that cannot be read is rejected before.
    if (asked.status !== 200) {
      if (asked.body.errors[0].message !== sent.body.errors?.[0].message) wrong(`${asked.status} ${asked.bytes}`);
      return;
    }
    if (asked.headers['x-ratelimit-consumed'] !== '0') wrong('took requests to be estimated');
    const { data, errors = [] } = sent.body;
    const compared: Compared = {
      estimate: asked.body,
      answer: sent.body,
      consumed: Number(sent.headers['x-ratelimit-consumed'] ?? 0),
      counted: data ? await countedPoints(document, sent.body, kind) : 0,
    };
    for (const what of [wrongPrice(compared), wrongRejection(compared)]) if (what) wrong(what);
    seen[data ? 'answered' : 'rejected'] += 1;
    seen.refused += compared.estimate.refused.filter(({ path }) => path !== null).length;
    // A declaration changes what the fields after it may do.
    if (data && !query.includes('classify')) unforeseen(compared).forEach(wrong);
    if (!data || errors.length > 0) return;
    // Lists that no argument bounds are expected as they were.
    const { body: again } = await app.send('POST', '/graphql?cost', sending);
    if (!isFull(again, data)) return;
    seen.full += 1;
    const { points } = again.expected;
    if (points > 2 * compared.counted + 1 || points < compared.counted / 2)
      wrong(`was expected to take ${points} points, took ${compared.counted}`);
  }

  const left = Array.from({ length: count }, (_, index) => index);
  const work = async () => {
    for (let index = left.shift(); index !== undefined && found.length < 20; index = left.shift()) await one(index);
  };
  await Promise.all(Array.from({ length: 6 }, work));
  expect(found).toEqual([]);
  expect(seen.answered).toBeGreaterThan(count / 5);
  expect(seen.rejected).toBeGreaterThan(count / 5);
  expect(seen.refused).toBeGreaterThan(count / 20);
  expect(seen.full).toBeGreaterThan(count / 40);
}, 1_800_000);
