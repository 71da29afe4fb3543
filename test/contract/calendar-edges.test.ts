// A date that the contract's form allows is never a server error, however far it lies from any market: years are four
// digits with leading zeros, 0000 to 9999. Asked with a key, whose windows are counted back from the dates that it
// sends.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/core/domain/market-time.ts';
import type { TestApp } from '../support/app.ts';
import { filledApp } from '../support/filled-market.ts';
import { about, knownRoutes, saveScreen } from './known-routes.ts';

let app: TestApp;
let key: string;
let session: string;

beforeAll(async () => {
  app = await filledApp();
  key = await app.key();
  session = await app.session();
  for (const credential of [key, session]) await saveScreen(app, credential);
});
afterAll(() => app.close());

/** A week of each age, so that every weekday is met: ends of the calendar, of centuries, of four digits. */
const weeks = [
  '0000-01-01',
  '0001-01-01',
  '0003-12-25',
  '0099-12-28',
  '0999-12-28',
  '1000-01-01',
  '1899-12-28',
  '9999-12-25',
];
const dates = weeks.flatMap((first) => Array.from({ length: 7 }, (_, i) => addDays(first, i)));

/** Epoch milliseconds are never negative. */
const epochMs = (date: string) => (Date.parse(date) < 0 ? [] : [String(Date.parse(date))]);

/** The forms a date is sent in, by parameter. */
const forms: Record<string, (date: string) => string[]> = {
  ...Object.fromEntries(['date', 'session', 'expiry', 'expiries'].map((name) => [name, (date: string) => [date]])),
  ...Object.fromEntries(['from_ms', 'to_ms'].map((name) => [name, (date: string) => [String(Date.parse(date))]])),
  ...Object.fromEntries(
    ['from', 'to', 'at'].map((name) => [
      name,
      (date: string) => [date, `${date}T09:30`, `${date}T23:59:59-12:00`, ...epochMs(date)],
    ]),
  ),
};
const asked = knownRoutes().flatMap(({ name, route, known }) =>
  Object.keys(route.queryParams)
    // `from` and `to` of a session's history are times of the day.
    .filter((parameter) => parameter in forms && !(route.path.endsWith('/history') && parameter !== 'date'))
    .map((parameter) => ({ name, parameter, path: known.path })),
);

/** Texts of all dates: each in one of its forms in turn, the ends of the calendar in every form. */
const textsOf = (parameter: string) =>
  dates.flatMap((date, i) => {
    const texts = forms[parameter]!(date);
    return i === 0 || i === dates.length - 1 ? texts : [texts[i % texts.length]!];
  });

/** The usual request with one parameter replaced. */
function withText(path: string, parameter: string, text: string): string {
  const url = new URL(about(path, 'SPY'), 'http://gateway');
  url.searchParams.set(parameter, text);
  return url.pathname + url.search;
}

/**
 * Refusals of dates that the contract names: the future of a session's history, the years before there were bars, a
 * range reversed, or wholly outside of the years 1990 to 2200.
 */
const allowedRefusal =
  /not in the future|at or before to|expected 1900-01-01 or later|not after `to(_ms)?`|expected a time (from 1990 on|up to 2200)/;

test.each(asked)('$name takes any date as $parameter', async ({ path, parameter }) => {
  const wrong: string[] = [];
  for (const text of textsOf(parameter)) {
    const request = withText(path, parameter, text);
    const { status, body } = await app.get(request, { credential: key });
    if (status !== 200 && !(status === 400 && allowedRefusal.test(body.error.message)))
      wrong.push(`${status} ${request} ${body?.error?.message}`);
  }
  expect(wrong).toEqual([]);
});

test.each(asked.filter(({ parameter }) => ['from', 'to', 'at'].includes(parameter)))(
  '$name takes no negative number as $parameter',
  async ({ path, parameter }) => {
    const { status, body } = await app.get(withText(path, parameter, '-1'), { credential: key });
    expect([status, body.error.details]).toEqual([400, { parameter }]);
  },
);

/** Beyond the year 9999: the next millisecond, the last of ECMAScript's time, 2^53 − 1, and 40 digits. */
const beyond = ['253402300800000', '8640000000000000', '9007199254740991', '9'.repeat(40)];

test.each(asked.filter(({ parameter }) => ['from', 'to', 'at', 'from_ms', 'to_ms'].includes(parameter)))(
  '$name takes milliseconds beyond the year 9999 as $parameter, as its end, from a key and a session',
  async ({ path, parameter }) => {
    for (const credential of [key, session]) {
      const last = await app.get(withText(path, parameter, '253402300799999'), { credential });
      expect(last.status === 200 || allowedRefusal.test(last.body.error.message)).toBe(true);
      for (const text of beyond) {
        const { status, body } = await app.get(withText(path, parameter, text), { credential });
        expect([text, status, body.data]).toEqual([text, last.status, last.body.data]);
        expect(status === 200 || allowedRefusal.test(body.error.message)).toBe(true);
      }
    }
  },
);

/** Fields of a symbol that take a point in time. */
const timedFields: Record<string, (time: string) => string> = {
  'bars, to': (time) => `bars(from: "2026-01-01", to: ${time}, timeframe: "1d") { rows { tsMs } }`,
  'bars, from': (time) => `bars(from: ${time}, to: ${time}, timeframe: "1d") { rows { tsMs } }`,
  grid: (time) => `gex { grid(at: ${time}) { capturedAt } }`,
  chain: (time) => `chain(at: ${time}) { rows { ask } }`,
  expirations: (time) => `expirations(at: ${time}) { dates }`,
  capture: (time) => `gex { at(time: ${time}) { capturedAt } }`,
  'off-exchange, to': (time) => `offExchange { activity(to: ${time}) { rows { date } } }`,
  'off-exchange, from': (time) => `offExchange { profile(from: ${time}) { rows { date } } }`,
};

test.each(Object.entries(timedFields))('the graph takes times beyond the year 9999: %s', async (_, field) => {
  for (const credential of [key, session]) {
    const ask = (time: string) => app.graphql(`{ symbol(symbol: "SPY") { ${field(time)} } }`, {}, { credential });
    const answerOf = async (time: string) => {
      const { data, errors } = await ask(time);
      return { data, messages: (errors ?? []).map(({ message }) => message) };
    };
    const last = await answerOf('"253402300799999"');
    for (const message of last.messages) expect(message).toMatch(allowedRefusal);
    for (const text of beyond) expect(await answerOf(`"${text}"`)).toEqual(last);
  }
});

describe('bars of a key', () => {
  const status = async (from: string, to: string) =>
    (await app.get(`/v2/stocks/SPY/bars?timeframe=1d&from=${from}&to=${to}`, { credential: key })).status;

  test('may end at any date from the year 1990 on, and at none before', async () => {
    for (const to of dates) expect([to, await status('1900-01-01', to)]).toEqual([to, to < '1990' ? 400 : 200]);
  });

  test('may begin at any date from the year 1900 to 2200, and at none before or after', async () => {
    for (const from of dates)
      expect([from, await status(from, '9999-12-31')]).toEqual([from, from < '1900' || from >= '2201' ? 400 : 200]);
  });

  test('are refused over the graph by the same rule', async () => {
    const bars = '{ symbol(symbol: "SPY") { bars(from: "1899-12-31", to: "1899-12-31") { rows { tsMs } } } }';
    const { errors } = await app.graphql(bars, {}, { credential: key });
    expect(errors?.map(({ extensions, message }) => [extensions.code, message])).toEqual([
      ['invalid_params', 'to: expected 1900-01-01 or later, got "1899-12-31"'],
    ]);
  });
});
