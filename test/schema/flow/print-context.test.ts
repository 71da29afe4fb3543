import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json, TestApp } from '../../support/app.ts';
import { filledApp, filledContract, filledNowMs } from '../../support/filled-market.ts';
import { newYork } from '../../support/option-market.ts';
import { statementsOf, withoutCommits } from '../../support/statements.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await filledApp();
  session = await app.session();
});
afterAll(() => app.close());

const ask = async (document: string) => {
  const { data, errors } = await app.graphql(document, {}, { credential: session });
  expect(errors).toBeUndefined();
  return data;
};

const bar = 'tsMs open high low close volume vwap';
const solve = 'tsMs iv delta mark';

/** The large trades of a session, newest first. */
const events = async (date: string, fields: string, limit = 12): Promise<Json[]> => {
  const document = `{ symbol(symbol: "SPY") { flow { largeTrades(session: "${date}", limit: ${limit}) { events { update { event { eventTsMs ${fields} } } } } } } }`;
  return (await ask(document)).symbol.flow.largeTrades.events.map((each: Json) => each.update.event);
};

test('the market at a print is that of asOf there: quote, gamma, chain and greeks of its contract', async () => {
  const symbol = 'quote { spot eventTsMs changePct } gex { latest { capturedAt netGex } }';
  const contract = `chainRow { bid ask } greeks { latest { ${solve} } }`;
  const legs = (
    await events('2026-11-30', `legs { eventTsMs context { at symbol { ${symbol} } contract { id ${contract} } } }`)
  ).flatMap((event) => event.legs);
  expect(legs.length).toBeGreaterThan(10);
  for (const { eventTsMs, context } of legs) {
    const { id, ...own } = context.contract;
    const { asOf } = await ask(
      `{ asOf(at: "${eventTsMs}") { symbol(symbol: "SPY") { ${symbol} } contract(id: "${id}") { ${contract} } } }`,
    );
    expect([context.at, context.symbol, own]).toEqual([eventTsMs, asOf.symbol, asOf.contract]);
  }
});

test('bars and solves around a print are those of its window, the last bar as it was at the end', async () => {
  const fields = `legs { eventTsMs contract { id } context(before: 150, after: 95) { from to bars { rows { ${bar} } } contractBars { ${bar} } greeks { ${solve} } } }`;
  for (const { legs } of (await events('2026-11-30', fields)).slice(0, 4)) {
    const [{ eventTsMs, contract, context }] = legs;
    const [from, to] = [eventTsMs - 150_000, eventTsMs + 95_000];
    expect([context.from, context.to]).toEqual([from, to]);
    const { asOf } = await ask(`{ asOf(at: "${to}") {
      symbol(symbol: "SPY") { bars(from: "${from}", to: "${to}") { rows { ${bar} } } }
      contract(id: "${contract.id}") { bars(session: "2026-11-30") { rows { ${bar} } } greeks { series { ${solve} } } } } }`);
    expect(context.bars.rows).toEqual(asOf.symbol.bars.rows);
    expect(context.bars.rows.length).toBeGreaterThan(1);
    const within = (start: number) => (row: Json) => row.tsMs >= start && row.tsMs < to;
    expect(context.contractBars).toEqual(asOf.contract.bars.rows.filter(within(from - (from % 60_000))));
    expect(context.contractBars.length).toBeGreaterThan(1);
    expect(context.greeks).toEqual(asOf.contract.greeks.series.filter(within(from)));
    expect(context.greeks.length).toBeGreaterThan(1);
  }
});

test('the window ends with now; an event has no contract of its own', async () => {
  app.clock.nowMs = newYork('2026-12-01', '10:00') + 40_000;
  try {
    const [newest] = await events(
      '2026-12-01',
      'context(after: 3600) { to contract { id } contractBars { close } greeks { iv } bars { rows { tsMs } } }',
    );
    const { eventTsMs, context } = newest!;
    expect(eventTsMs).toBeLessThanOrEqual(app.clock.nowMs);
    expect(context).toMatchObject({ to: app.clock.nowMs, contract: null, contractBars: [], greeks: [] });
    for (const { tsMs } of context.bars.rows) expect(tsMs).toBeLessThan(app.clock.nowMs);
  } finally {
    app.clock.nowMs = filledNowMs;
  }
});

test.each([
  ['before: 3601', 'before'],
  ['after: -1', 'after'],
])('a window of %s seconds is a 400 that names it', async (args, name) => {
  const { errors } = await app.graphql(
    `{ symbol(symbol: "SPY") { flow { largeTrades(session: "2026-11-30", limit: 1) { events { update { event { context(${args}) { at } } } } } } } }`,
    {},
    { credential: session },
  );
  expect(errors![0]).toMatchObject({
    message: expect.stringMatching(new RegExp(`^${name}: expected 0 to 3600 seconds`)),
    extensions: { code: 'invalid_params' },
  });
});

test('a print of an end-of-day list leads there too', async () => {
  const { contract } = await ask(
    `{ contract(id: "${filledContract('SPY')}") { eod(session: "2026-11-30") { prints { eventTsMs context { at symbol { symbol } contract { id } } } } } }`,
  );
  for (const { eventTsMs, context } of contract.eod.prints)
    expect(context).toEqual({ at: eventTsMs, symbol: { symbol: 'SPY' }, contract: { id: filledContract('SPY') } });
  expect(contract.eod.prints.length).toBeGreaterThan(10);
});

test('a hundred events take at most twice the statements of one', async () => {
  const fields =
    'legs { context { symbol { quote { spot } gex { latest { netGex } } } contract { chainRow { bid } } bars { rows { close } } contractBars { close } } }';
  const counts = [];
  for (const [symbol, limit] of [
    ['NVDA', 1],
    ['MSFT', 100],
  ]) {
    const document = `{ symbol(symbol: "${symbol}") { flow { largeTrades(limit: ${limit}) { events { update { event { ${fields} } } } } } } }`;
    counts.push(withoutCommits(await statementsOf(() => ask(document))).length);
  }
  expect(counts[0]).toBeGreaterThan(5);
  // Some windows end between minutes, so their reads come at other steps.
  expect(counts[1]).toBeLessThanOrEqual(2 * counts[0]!);
});

test('levels, off exchange, chains and flow at twenty instants take at most half as many statements again as at one', async () => {
  const counts = [];
  const fields =
    'levels { spot } offExchange { concentration { rows { rank } } } expirations { dates } volatility { figures { rank { rank } } } flow { unusual { callPremiumUsd } }';
  for (const limit of [1, 100]) {
    const document = `{ largeTrades(session: "2026-11-30", limit: ${limit}) { events { update { event { eventTsMs context { symbol { ${fields} } } } } } } }`;
    let found: Json;
    const statements = await statementsOf(async () => {
      found = await ask(document);
    });
    const instants = new Set(found.largeTrades.events.map((each: Json) => each.update.event.eventTsMs));
    counts.push({ instants: instants.size, statements: withoutCommits(statements).length });
  }
  expect(counts.map(({ instants }) => instants)).toEqual([1, 20]);
  expect(counts[1]!.statements).toBeLessThanOrEqual(1.5 * counts[0]!.statements);
});
