import { describe, expect, test } from 'vitest';
import { TooManyPages } from '../../../clients/typescript/src/index.ts';
import { answer, fakeGateway, rejection } from './fake-gateway.ts';

/** A list of one row a page that never ends. */
function endless() {
  let count = 0;
  return fakeGateway(() => answer([{ n: ++count }], { cursor: `c${count}` }));
}

const bars = ({ client }: ReturnType<typeof fakeGateway>) =>
  client.stockBars({ symbol: 'SPY', from: '2026-11-20', to: '2026-11-21', limit: 1 });

describe('pages of the TypeScript client', () => {
  test('are asked for with the same parameters and the cursor', async () => {
    const gateway = fakeGateway([answer([1, 2], { cursor: 'a' }), answer([3], { cursor: 'b' }), answer([4], { n: 1 })]);
    const whole = await (await bars(gateway)).all();
    expect([whole.data, whole.cursor, whole.meta]).toEqual([[1, 2, 3, 4], null, { n: 1 }]);
    const first = '?from=2026-11-20&to=2026-11-21&limit=1';
    expect(gateway.sent.map(({ url }) => url.search)).toEqual([first, `${first}&cursor=a`, `${first}&cursor=b`]);
  });

  test('stop at a bound of the caller, and the cursor says that there is more', async () => {
    for (const [bounds, count] of [
      [{ maxPages: 3 }, 3],
      [{ maxRows: 2 }, 2],
    ] as const) {
      const gateway = endless();
      expect((await (await bars(gateway)).all(bounds)).cursor).toBe(`c${count}`);
      expect(gateway.sent).toHaveLength(count);
    }
  });

  test('are an error without a bound, if they do not end', async () => {
    const gateway = endless();
    const first = await bars(gateway);
    expect(await rejection(first.all())).toBeInstanceOf(TooManyPages);
    expect(gateway.sent).toHaveLength(1000);
  });

  test('are an error if a cursor repeats, and a bound below one is rejected', async () => {
    const gateway = fakeGateway([answer([1], { cursor: 'a' }), answer([2], { cursor: 'a' })]);
    const first = await bars(gateway);
    expect(await rejection(first.all({ maxRows: 100 }))).toBeInstanceOf(TooManyPages);
    expect(await rejection(first.all({ maxPages: 0 }))).toBeInstanceOf(RangeError);
  });
});
