import { describe, expect, test } from 'vitest';
import { type StreamEvent, Unreachable } from '../../../clients/typescript/src/index.ts';
import { events, failure, fakeGateway, rejection, withoutWaiting } from './fake-gateway.ts';

const ready = ['event: ready', 'id: t-0', 'data: {"topics":["quotes:SPY"]}', ''];
const quote = (number: number) => ['event: quotes', `id: t-${number}`, `data: {"spot":${number}}`, ''];
const ended = (reason: string, code = 'internal') => [
  'event: end',
  `data: ${JSON.stringify({ reason, error: { code, message: 'x', required_tier: 'pro' } })}`,
  '',
  '',
];
const completed = ['event: end', 'data: {"reason":"completed","at":1}', '', ''];

async function all(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const found: StreamEvent[] = [];
  for await (const event of stream) found.push(event);
  return found;
}

describe('a stream of the TypeScript client', () => {
  test('goes on after its last event when it was lost', async () => {
    const { client, sent } = fakeGateway([
      events(...ready, ': beat', '', ...quote(1), 'event: quotes'),
      new TypeError('refused'),
      failure(503, 'internal', { 'Retry-After': '3' }),
      events(...ready, ...quote(2), ...ended('shutdown')),
      events(...quote(3), ...completed),
    ]);
    const { result, waited } = await withoutWaiting(() => all(client.stream(['quotes:SPY', 'gex:SPY'], { since: 5 })));
    expect(result).toEqual([1, 2, 3].map((n) => ({ kind: 'quotes', data: { spot: n }, id: `t-${n}` })));
    expect(sent.map(({ headers }) => headers['Last-Event-ID'])).toEqual([undefined, 't-1', 't-1', 't-1', 't-2']);
    expect(Object.fromEntries(sent[4]!.url.searchParams)).toEqual({ topics: 'quotes:SPY,gex:SPY', since: '5' });
    expect(waited).toEqual([0.5, 1, 3, 0.5]);
  });

  test('throws when the rights are lost, and when it is rejected', async () => {
    const lost = fakeGateway([events(...quote(1), ...ended('not_entitled', 'not_entitled_tier'))]);
    expect(await rejection(all(lost.client.stream('quotes:SPY')))).toMatchObject({
      code: 'not_entitled_tier',
      details: { required_tier: 'pro' },
    });
    const late = failure(429, 'rate_limited', { 'Retry-After': '60' });
    for (const rejected of [failure(403, 'not_entitled_tier'), late]) {
      const { client, sent } = fakeGateway([rejected]);
      expect(await rejection(all(client.stream('quotes:SPY')))).toMatchObject({ status: rejected.status });
      expect(sent).toHaveLength(1);
    }
  });

  test('is not tried for ever without an event', async () => {
    for (const silent of [() => events(''), () => Response.error()]) {
      const { client, sent } = fakeGateway(silent);
      const { result, waited } = await withoutWaiting(() => rejection(all(client.stream('quotes:SPY'))));
      if (silent().ok) expect(result).toBeInstanceOf(Unreachable);
      else expect(result).toMatchObject({ code: 'http_0' });
      expect([sent.length, waited.at(-1)]).toEqual(silent().ok ? [10, 30] : [1, undefined]);
    }
  });

  test('ends when it is aborted, or when its reader leaves', async () => {
    const stop = new AbortController();
    const { client, sent } = fakeGateway(() => events(...quote(1), ''));
    for await (const { data } of client.stream('quotes:SPY')) {
      expect(data).toEqual({ spot: 1 });
      break;
    }
    stop.abort(new Error('enough'));
    await expect(all(client.stream('quotes:SPY', { signal: stop.signal }))).rejects.toThrow('enough');
    expect(sent.length).toBeLessThanOrEqual(2);
  });
});
