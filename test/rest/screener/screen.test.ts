import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FigureName, figureColumns, figureNames, figureRestName } from '../../../src/core/domain/screener.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';
import type { Json, TestApp } from '../../support/app.ts';
import { filledApp, filledNowMs } from '../../support/filled-market.ts';
import { statementsOf } from '../../support/statements.ts';

let app: TestApp;
let session: string;
beforeAll(async () => {
  app = await filledApp();
  session = await app.session();
});
afterAll(() => app.close());

const own = `
  symbol class sector
  quote { spot changePct volume }
  gex { latest { sourceTime netGex flipStatus strikes { callOi putOi } } }
  levels { levels { kind distancePct } }
  volatility { figures {
    asOfMs iv7 iv30 iv60 iv90 rank { rank percentile } realized { closeToClose } premium { variance volatility }
    skew { dte riskReversal25 butterfly25 }
  } }
  flow { unusual { callPremiumUsd putPremiumUsd callRatio putRatio } }
  offExchange { activity { rows { offExchPct offExchVolume } } }
`;

/** The earlier of two instants, of which either may be unknown. */
const earlier = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.min(a, b));

/** A symbol's figures, from its own fields. */
function figuresOf({ symbol, quote, gex, levels, volatility, flow, offExchange, ...entry }: Json): Json {
  const { figures } = volatility;
  const distance = (kind: string) => levels.levels.find((level: Json) => level.kind === kind)?.distancePct ?? null;
  const skew = figures.skew.toSorted((a: Json, b: Json) => Math.abs(a.dte - 30) - Math.abs(b.dte - 30))[0];
  const interest = gex.latest?.strikes.reduce(
    (sum: number, row: Json) => sum + (row.callOi ?? 0) + (row.putOi ?? 0),
    0,
  );
  const last = offExchange?.activity?.rows.at(-1);
  return {
    symbol,
    class: entry.class,
    sector: entry.sector,
    ...quote,
    asOf: earlier(gex.latest?.sourceTime ?? null, figures.asOfMs),
    netGex: gex.latest?.netGex ?? null,
    flipStatus: gex.latest?.flipStatus ?? null,
    openInterest: interest ?? null,
    flipDistancePct: distance('flip'),
    zeroGammaDistancePct: distance('zero_gamma'),
    callWallDistancePct: distance('call_wall'),
    putWallDistancePct: distance('put_wall'),
    ...Object.fromEntries([7, 30, 60, 90].map((days) => [`iv${days}`, figures[`iv${days}`]])),
    ivRank: figures.rank?.rank ?? null,
    ivPercentile: figures.rank?.percentile ?? null,
    riskReversal25: skew?.riskReversal25 ?? null,
    butterfly25: skew?.butterfly25 ?? null,
    realizedVolatility: figures.realized?.closeToClose ?? null,
    variancePremium: figures.premium?.variance ?? null,
    volatilityPremium: figures.premium?.volatility ?? null,
    callPremiumUsd: flow.unusual?.callPremiumUsd ?? null,
    putPremiumUsd: flow.unusual?.putPremiumUsd ?? null,
    callPremiumRatio: flow.unusual?.callRatio ?? null,
    putPremiumRatio: flow.unusual?.putRatio ?? null,
    offExchangePct: last?.offExchPct ?? null,
    offExchangeVolume: last?.offExchVolume ?? null,
  };
}

/** Every registered symbol's figures, each asked for by itself. */
async function eachOwn(at: number | null = null): Promise<Json[]> {
  const { data } = await app.graphql('{ symbols(first: 100) { nodes { symbol } } }', {}, { credential: session });
  const found: Json[] = [];
  for (const { symbol } of data.symbols.nodes) {
    const text = `query ($at: PointInTime) { asOf(at: $at) { symbol(symbol: "${symbol}") { ${own} } } }`;
    const answer = await app.graphql(text, { at: at && String(at) }, { credential: session });
    expect(answer.errors).toBeUndefined();
    found.push(figuresOf(answer.data.asOf.symbol));
  }
  return found;
}

const asked = `query ($where: ScreenInput!, $orderBy: ScreenOrder, $first: Int, $after: String, $at: PointInTime) {
  asOf(at: $at) { screener(where: $where, orderBy: $orderBy, first: $first, after: $after) {
    rows { symbol ${figureNames.join(' ')} }
    meta { count totalCount cursor restricted }
  } }
}`;

async function screened(variables: Json, credential = session): Promise<Json> {
  const { data, errors } = await app.graphql(asked, variables, { credential });
  expect(errors).toBeUndefined();
  return data.asOf.screener;
}

type Comparison = Record<string, Json>;

/** Compares as a screen does, written independently. */
function meets(value: number | string | null, { isNull, ...rest }: Comparison): boolean {
  if (isNull !== undefined && (value === null) !== isNull) return false;
  return Object.entries(rest).every(([operator, operand]) => {
    if (value === null) return false;
    switch (operator) {
      case 'eq':
        return value === operand;
      case 'in':
        return operand.includes(value);
      case 'gt':
        return value > operand;
      case 'gte':
        return value >= operand;
      case 'lt':
        return value < operand;
      default:
        return value <= operand;
    }
  });
}

function matches(row: Json, { and = [], or, not, ...figures }: Json): boolean {
  return (
    Object.entries(figures).every(([name, comparison]) => meets(row[name], comparison as Comparison)) &&
    and.every((each: Json) => matches(row, each)) &&
    (or === undefined || or.some((each: Json) => matches(row, each))) &&
    (not === undefined || !matches(row, not))
  );
}

/** Number of conditions of a filter. */
function conditionsOf({ and = [], or = [], not, ...figures }: Json): number {
  const own = Object.values<Json>(figures).reduce((sum, comparison) => sum + Object.keys(comparison).length, 0);
  const parts = [...and, ...or, ...(not ? [not] : [])];
  return parts.reduce((sum: number, part: Json) => sum + conditionsOf(part), own);
}

/** Filters about the values that there are. */
function filters(rows: Json[]): fc.Arbitrary<Json> {
  const comparison = (name: FigureName): fc.Arbitrary<Json> => {
    const values = [...new Set(rows.map((row) => row[name]).filter((value) => value !== null))];
    const isText = figureColumns[name].type === 'text';
    const value = fc.constantFrom(...(values.length > 0 ? values : [isText ? 'none' : 0]));
    const operators: Record<string, fc.Arbitrary<Json>> = {
      eq: value,
      in: fc.array(value, { maxLength: 3 }),
      isNull: fc.boolean(),
      ...(!isText && { gt: value, gte: value, lt: value, lte: value }),
    };
    return fc.record(operators, { requiredKeys: [] }).map((made) => ({ [name]: made }));
  };
  const leaf = fc.constantFrom(...figureNames).chain(comparison);
  return fc
    .letrec<{ filter: Json }>((tie) => ({
      filter: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.record({ and: fc.array(tie('filter'), { maxLength: 3 }) }),
        fc.record({ or: fc.array(tie('filter'), { maxLength: 3 }) }),
        fc.tuple(leaf, tie('filter')).map(([own, not]) => ({ ...own, not })),
      ),
    }))
    .filter.filter((filter) => depthOf(filter) <= 8 && conditionsOf(filter) <= 60);
}

const depthOf = ({ and = [], or = [], not }: Json): number =>
  1 + Math.max(0, ...[...and, ...or, ...(not ? [not] : [])].map(depthOf));

const bySymbol = (one: Json, other: Json) => (one.symbol < other.symbol ? -1 : 1);

/** The order of a screen, written once more. */
function inOrder(rows: Json[], name: FigureName, direction: string): Json[] {
  const [known, unknown] = [rows.filter((row) => row[name] !== null), rows.filter((row) => row[name] === null)];
  known.sort((a, b) => {
    if (a[name] === b[name]) return bySymbol(a, b);
    return a[name] < b[name] === (direction === 'asc') ? -1 : 1;
  });
  return [...known, ...unknown.sort(bySymbol)];
}

const instants: [string, number | null][] = [
  ['live', null],
  ['as of a half day', filledNowMs - 4 * 86_400_000],
];

describe.each(instants)('screener, %s', (_name, at) => {
  let rows: Json[];
  beforeAll(async () => {
    rows = await eachOwn(at);
  });
  const instant = at === null ? {} : { at: String(at) };

  test('figures are those of the symbols’ own fields, for every symbol', async () => {
    const { rows: found, meta } = await screened({ where: {}, first: 100, ...instant });
    expect(found).toEqual(
      rows.map((row) => Object.fromEntries(['symbol', ...figureNames].map((name) => [name, row[name]]))),
    );
    expect(meta).toEqual({ count: rows.length, totalCount: rows.length, cursor: null, restricted: null });
    const published = at === null ? (['offExchangePct'] as const) : [];
    for (const name of ['changePct', 'netGex', 'flipDistancePct', 'openInterest', ...published] as const)
      expect([name, rows.some((row) => row[name] !== null), rows.some((row) => row[name] === null)]).toEqual([
        name,
        true,
        true,
      ]);
  });

  test('a random filter in a random order gives the symbols whose own fields meet it, page by page', async () => {
    const order = fc.record({ figure: fc.constantFrom(...figureNames), direction: fc.constantFrom('asc', 'desc') });
    await fc.assert(
      fc.asyncProperty(
        filters(rows),
        order,
        fc.integer({ min: 1, max: 4 }),
        async (where, { figure, direction }, first) => {
          const expected = inOrder(
            rows.filter((row) => matches(row, where)),
            figure,
            direction,
          );
          const found: string[] = [];
          let after: string | null = null;
          do {
            const page: Json = await screened({
              where,
              orderBy: { figure, direction },
              first,
              after,
              ...instant,
            });
            expect(page.meta.totalCount).toBe(expected.length);
            found.push(...page.rows.map(({ symbol }: Json) => symbol));
            after = page.meta.cursor;
          } while (after !== null);
          expect(found).toEqual(expected.map(({ symbol }) => symbol));
        },
      ),
      { numRuns: 60 },
    );
  });
});

const code = ({ errors }: { errors?: Json[] }) => errors?.[0]?.extensions.code;
const screenOf = (where: string, more = '', credential = session) =>
  app.graphql(
    `{ screener(where: ${where}${more}) { rows { symbol callPremiumUsd offExchangePct } meta { restricted } } }`,
    {},
    { credential },
  );

describe('entitlement', () => {
  test('a condition or an order on what the caller may not read is 403, wherever it stands, at every door', async () => {
    const basic = await app.key({ apiTier: 'basic' });
    const free = await app.key({ apiTier: 'free' });
    const undeclared = await app.key({ classification: null });
    const cases: [string, string, string][] = [
      [basic, '{"or":[{"spot":{"gt":0}},{"not":{"callPremiumRatio":{"isNull":true}}}]}', 'not_entitled_tier'],
      [free, '{"offExchangePct":{"gt":0.1}}', 'not_entitled_tier'],
      [undeclared, '{"and":[{"offExchangeVolume":{"gt":1}}]}', 'attestation_required'],
      [undeclared, '{"putPremiumUsd":{"gt":1}}', 'attestation_required'],
    ];
    for (const [credential, where, expected] of cases) {
      const rest = await app.get(`/v2/screener/screen?where=${encodeURIComponent(where)}`, { credential });
      expect([where, rest.status, rest.body.error?.code]).toEqual([where, 403, expected]);
      const graph = await app.graphql(asked, { where: JSON.parse(where) }, { credential });
      expect([where, code(graph)]).toEqual([where, expected]);
    }
    const ordered = await app.get('/v2/screener/screen?where={}&order_by=-off_exchange_pct', { credential: free });
    expect([ordered.status, ordered.body.error.code]).toEqual([403, 'not_entitled_tier']);
  });

  test('symbols that the caller may not read never match; figures that it may not read are null and named', async () => {
    const free = await app.key({ apiTier: 'free', classification: null });
    const { data } = await screenOf('{}', ', first: 100', free);
    expect(data.screener.rows.map(({ symbol }: Json) => symbol)).toEqual(['AAPL', 'BRK.B', 'SPY', 'XOM']);
    expect(data.screener.rows.every((row: Json) => row.callPremiumUsd === null && row.offExchangePct === null)).toBe(
      true,
    );
    const restricted = ['callPremiumUsd', 'putPremiumUsd', 'callPremiumRatio', 'putPremiumRatio'];
    expect(data.screener.meta.restricted).toEqual([...restricted, 'offExchangePct', 'offExchangeVolume']);
    const rest = await app.get('/v2/screener/screen?where={}', { credential: free });
    expect(rest.body.meta.restricted).toEqual([
      'call_premium_usd',
      'put_premium_usd',
      'call_premium_ratio',
      'put_premium_ratio',
      'off_exchange_pct',
      'off_exchange_volume',
    ]);
    const csv = await app.get('/v2/screener/screen?where={}', { credential: free, headers: { accept: 'text/csv' } });
    expect(csv.bytes.toString()).not.toMatch(/SPX|NVDA|9000\.25/);
  });
});

describe('bad requests', () => {
  const nested = (depth: number): string => (depth === 1 ? '{"spot":{"gt":1}}' : `{"not":${nested(depth - 1)}}`);
  test.each([
    [nested(9), 'where: expected at most 8 filters in each other'],
    [`{"or":[${Array(60).fill('{"spot":{"gt":1}}').join()}]}`, 'where: expected at most 100 conditions, got 121'],
    [`{"spot":{"in":[${Array(501).fill('1').join()}]}}`, 'where: expected at most 500 values in lists'],
    ['{"spot":{"gt":null}}', 'where: expected a value for where.spot.gt, got null'],
    ['{"not":null}', 'where: expected a value for where.not, got null'],
    ['[1]', 'where: expected an object as JSON, got "[1]"'],
    ['{"spot":', 'where: expected an object as JSON, got "{\\"spot\\":"'],
    ['{"price":{"gt":1}}', 'where: Field "price" is not defined by type "ScreenInput".'],
    ['{"spot":{"gt":"high"}}', 'where: where.spot.gt: Float cannot represent non numeric value: "high"'],
    [`${'{"not":'.repeat(600)}{}${'}'.repeat(600)}`, expect.stringContaining('where')],
  ])('where=%s is 400', async (where, message) => {
    const { status, body } = await app.get(`/v2/screener/screen?where=${encodeURIComponent(where)}`);
    expect([status, body.error?.code, body.error?.message]).toEqual([400, 'invalid_params', message]);
  });

  test('a cursor of another filter, another order, or none is 400', async () => {
    const page = await screened({ where: {}, first: 1 });
    for (const change of [
      { where: { spot: { gt: 0 } }, after: page.meta.cursor },
      { where: {}, orderBy: { figure: 'spot' }, after: page.meta.cursor },
      { where: {}, after: 'x' },
      { where: {}, first: 0 },
    ])
      expect(code(await app.graphql(asked, change, { credential: session }))).toBe('invalid_params');
  });
});

describe('the table of figures', () => {
  test('a second screen of the same figures runs no statement; a commit is in the next answer', async () => {
    const where = { changePct: { isNull: false }, iv30: { isNull: true }, callPremiumUsd: { isNull: true } };
    await screened({ where });
    const spots = async () => {
      const { rows } = await screened({ where: { symbol: { eq: 'spy' } } });
      return rows.map(({ spot }: Json) => spot);
    };
    const [before] = await spots();
    // Another text, so that no cached answer serves it.
    const quiet = await statementsOf(() => screened({ where: { ...where, netGex: { isNull: false } } }));
    expect(quiet).toEqual([]);
    await inTransaction(app.store, async (tx) => {
      await tx.query("UPDATE live_quotes SET spot = spot + 1 WHERE symbol = 'SPY'");
      tx.changes.add('market', 'SPY');
    });
    expect(await spots()).toEqual([before + 1]);
  });

  test('as of an instant the number of statements does not depend on that of symbols', async () => {
    const count = async (symbols: string[]) => {
      const where = { symbol: { in: symbols }, iv30: { gt: 0 }, netGex: { isNull: false }, changePct: { gt: -100 } };
      const at = String(filledNowMs - 4 * 86_400_000 - symbols.length * 1000);
      return (await statementsOf(() => screened({ where, at }))).length;
    };
    await count(['SPY']);
    expect(await count(['SPY', 'MSFT', 'NVDA', 'AAPL', 'XSP'])).toBeLessThanOrEqual((await count(['SPY'])) + 2);
  });
});

describe('GET /v2/screener/screen', () => {
  test('the rows of the graph with the names of REST', async () => {
    const where = { netGex: { isNull: false } };
    const [rest, graph] = await Promise.all([
      app.get(`/v2/screener/screen?where=${JSON.stringify(where)}&order_by=-flip_distance_pct&limit=2`),
      app.graphql(asked, { where, orderBy: { figure: 'flipDistancePct' }, first: 2 }),
    ]);
    expect(rest.status).toBe(200);
    const { rows, meta } = graph.data.asOf.screener;
    expect(rest.body.data).toEqual(
      rows.map((row: Json) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [figureRestName(name as FigureName), value])),
      ),
    );
    expect(rest.body.meta).toMatchObject({
      count: 2,
      total_count: meta.totalCount,
      cursor: meta.cursor,
      plane: 'live',
    });
  });
});
