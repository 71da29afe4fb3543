import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen, stop } from '../../../src/cli/server/listen.ts';

type Listening = Awaited<ReturnType<typeof listen>>;
let listening: Listening;

beforeAll(async () => {
  listening = await listen((_request, response) => response.end('ok'), { port: 0, host: '127.0.0.1' });
});
afterAll(() => stop(listening, 1000));

/** Sends bytes as they are and returns all that comes back until the server closes. */
async function raw(text: string): Promise<string> {
  const socket = connect(listening.address.port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(text);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  await once(socket, 'close');
  return answer;
}

describe('what is not HTTP', () => {
  test.each([
    ['a first line that is none', 'rubbish\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'headers beyond all measure',
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
  ])('%s is answered in the contract’s words, with a request id', async (_what, text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(status);
    expect(answer).toMatch(/x-request-id: [\w-]{36}\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
      error: { code: 'invalid_params', message: expect.any(String) },
    });
  });
});
