import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { type BodyAnswer, bodyEndpoints } from '../support/body-endpoints.ts';
import { randomOf } from '../support/random.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await testApp();
  session = await app.session();
});
afterAll(() => app.close());

const seed = Number(process.env.BODY_SEED ?? 20261125);
const count = Number(process.env.BODY_COUNT ?? 50);
/** The bench sends bodies of every endpoint's limit. */
const mostBytes = 256 * 1024;
const mostAnswerBytes = 100 * 1024;

/** The code of an error, in the form of whichever endpoint. */
function codeOf(text: string): unknown {
  const body = JSON.parse(text);
  return body.error?.data?.code ?? body.error?.code ?? body.errors?.[0]?.extensions?.code;
}

const isRejected = ({ status, text }: BodyAnswer) =>
  status === null || status >= 400 || (text.startsWith('{"errors"') && !text.includes('"data":'));

function requireRejected({ status, headers, text }: BodyAnswer): void {
  expect(text.length).toBeLessThan(mostAnswerBytes);
  if (status === null) expect(text).not.toMatch(/"code":(?:1011|1006|"internal")/);
  else expect([headers['x-request-id'], codeOf(text)]).toEqual([expect.stringMatching(/./), expect.anything()]);
}

test.each(bodyEndpoints)('random bodies of $name are answered, or rejected in few words', async ({ make }) => {
  const random = randomOf(seed);
  for (let i = 0; i < count; i++) {
    const send = make(random, mostBytes);
    const answer = await send({ url: app.url, session });
    const { status, text } = answer;
    try {
      expect(status ?? 0).toBeLessThan(500);
      if (isRejected(answer)) requireRejected(answer);
    } catch (error) {
      throw new Error(`body ${i}: ${status} ${text.slice(0, 300)}`, { cause: error });
    }
  }
  const { data } = await app.graphql('{ me { kind } }', {}, { credential: session });
  expect(data).toEqual({ me: { kind: 'session' } });
});
