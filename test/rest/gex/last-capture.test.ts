import { afterAll, beforeAll, expect, test } from 'vitest';
import { minuteMs } from '../../../src/platform/runtime/clock.ts';
import { type Json, type TestApp, testApp } from '../../support/app.ts';
import { quotedChain, solvedPair } from '../../support/hand-made-capture.ts';
import { newYork, saveCaptures } from '../../support/option-market.ts';

// Friday 2026-11-20, 12:00 in New York.
const nowMs = Date.parse('2026-11-20T17:00Z');
const delayMs = 15 * minuteMs;
const [halfDay, thursday, friday] = ['2025-11-28', '2026-11-19', '2026-11-20'];

/** Pages by session, `*` the last one: others have earlier quotes, or those of after its close. */
const pages: Readonly<Record<string, readonly string[]>> = {
  [halfDay]: ['12:55', '13:10*', '13:16', '16:10'],
  '2026-11-16': ['15:50', '16:10*', '16:20', '20:00'],
  // None has quotes of the last quarter of an hour: the last one stands.
  '2026-11-17': ['11:00', '15:30', '19:00*'],
  '2026-11-18': ['09:50', '15:00*'],
  [thursday]: ['15:55', '16:14*', '16:16', '21:00'],
  [friday]: ['11:00', '11:55*'],
};
const ends = Object.entries(pages).map(([session, clocks]) => {
  const clock = clocks.find((each) => each.endsWith('*'))!.slice(0, -1);
  return { session, capturedAt: newYork(session, clock) };
});
let app: TestApp;

beforeAll(async () => {
  app = await testApp({ nowMs });
  const chains = Object.entries(pages).flatMap(([session, clocks]) =>
    clocks.map((clock) => {
      const chain = quotedChain({
        root: 'SPXW',
        atMs: newYork(session, clock.replace('*', '')),
        spot: 6000,
        volatility: 0.16,
        volume: 1,
        expiries: ['2026-12-18', '2026-12-31'],
        strikes: [5900, 5940, 5960, 5980, 6000, 6020, 6040, 6060, 6100],
        openInterest: () => 100,
      });
      return { ...chain, delayMs };
    }),
  );
  const pairs = await Promise.all(chains.map((chain) => solvedPair(chain)));
  await saveCaptures(app.store, { gex: pairs.map(({ gex }) => gex), chains: pairs.map(({ chain }) => chain) });
});
afterAll(() => app.close());

const rest = async (path: string) => {
  const { status, body } = await app.get(path);
  expect(status).toBe(200);
  return body;
};
const graph = async (fields: string) => {
  const { data, errors } = await app.graphql(`{ symbol(symbol: "SPX") { ${fields} } }`);
  expect(errors).toBeUndefined();
  return data.symbol as Json;
};
/** The id of a contract, as of the graph. */
const contract = 'O:SPXW261231C06000000';

/** Where a session's last capture is meant: the time of the one that is served. */
const doors: Readonly<Record<string, (session: string) => Promise<unknown>>> = {
  'grid of a date': async (session) => (await rest(`/v2/gex/SPX/grid?at=${session}`)).data.captured_at,
  'figures of a date': async (session) => (await rest(`/v2/gex/SPX/figures?at=${session}`)).data.captured_at,
  'exposures of a date': async (session) => (await rest(`/v2/gex/SPX/exposures?at=${session}`)).data.captured_at,
  'chain of a date': async (session) => (await rest(`/v2/chain/SPX?at=${session}`)).data.captured_at,
  'strikes of a date': async (session) => (await rest(`/gex/SPX/strikes?date=${session}`)).meta.captured_at_ms,
  'change to a date': async (session) =>
    (await rest(`/v2/gex/SPX/change?from=${halfDay}&to=${session}`)).data.to.captured_at,
  'change from a date': async (session) =>
    (await rest(`/v2/gex/SPX/change?from=${session}&to=${friday}`)).data.from.captured_at,
  'chains between dates': async (session) =>
    (await graph(`chainDiff(from: "${halfDay}", to: "${session}") { toCapturedAt }`)).chainDiff.toCapturedAt,
  'history of a contract': async (session) =>
    (await rest(`/v2/options/${contract}/history?from=${session}&to=${session}`)).data.days[0]?.captured_at,
  'list of sessions': async (session) => {
    const { gex } = await graph('gex { sessions(first: 20) { sessionDate capturedAt } }');
    return gex.sessions.find((each: Json) => each.sessionDate === session)?.capturedAt;
  },
};

const cases = Object.keys(doors).flatMap((door) => ends.map((end) => ({ door, ...end })));
test.each(cases)('$door: the last capture of $session is that with the last quotes up to its close', async (each) => {
  expect(await doors[each.door]!(each.session)).toBe(each.capturedAt);
});

test('the close before a session is read off that capture too', async () => {
  const { data } = await rest(`/v2/gex/SPX/reference?date=${friday}&basis=prev_close`);
  expect(data).toMatchObject({ reference_session_date: thursday, captured_at: newYork(thursday, '16:14') });
});

test('as of an instant, only what had come by then is the last', async () => {
  const { data } = await app.graphql(
    `{ asOf(at: "${thursday}T16:05") { symbol(symbol: "SPX") { gex { sessions(first: 1) { capturedAt } } } } }`,
  );
  expect(data.asOf.symbol.gex.sessions).toEqual([{ capturedAt: newYork(thursday, '15:55') }]);
});
