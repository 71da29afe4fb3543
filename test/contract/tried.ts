import type { RequestTexts } from '../../src/rest/contract/example.ts';

/** Texts that parameters of any route are tried with, good and bad. */
export const paramTexts: Record<string, readonly string[]> = {
  symbol: ['SPY', 'spy', 'SPX', 'MSFT', 'ZZZ', 'QQQQ'],
  underlying: ['SPY', 'spx', 'ZZZ', 'QQQQ'],
  symbols: ['SPY', 'spy,SPX,QQQQ,SPY', 'ZZZ'],
  contract: ['O:SPY261218C00600000', 'o:spxw261218p00600000', 'O:SPY261218C00123000', 'O:QQQQ261218C00600000'],
  contracts: ['O:SPY261218C00600000,o:spxw261218p00600000', 'O:QQQQ261218C00600000', 'O:SPY261218C00600000,x'],
  id: ['mine', 'none such', 'é✓'],
  import_id: ['first'],
  format: ['jsonl', 'csv'],
  class: ['equity', 'index'],
  q: ['SPY', 'zzz', 'no such thing', 'é✓'],
  from: ['2026-11-25', '2026-11-27T00:00', '1764374400000', '2027-01-01'],
  to: ['2026-11-30', '2026-12-01T12:00', '2020-01-01'],
  tz: ['UTC', 'America/New_York', 'Asia/Tokyo'],
  timeframe: ['1s', '1m', '5m', '1h', '1d'],
  tf: ['1s', '1m', '5m', '1h', '1d'],
  limit: ['1', '7', '99999999'],
  cursor: ['x', 'MS4xLmFiY2RlZmdoaWprbA'],
  source: ['trade', 'x'],
  date: ['2026-11-30', '2026-11-27', '2026-12-01', '2026-11-28', '2026-12-02'],
  adjusted: ['true', 'false'],
  by_expiry: ['true', 'false'],
  top: ['1', '5', '99999999'],
  at: ['2026-11-30', '2026-11-27T12:56', '1764374400000'],
  known: ['2026-11-30', '1764374400000'],
  expiry: ['2026-12-18', '2026-12-01'],
  strike_gte: ['590000'],
  strike_lte: ['610000'],
  session: ['2026-11-30', '2026-12-01', '2026-11-27', '2026-11-28'],
  min_premium_usd: ['0', '300000', '1e12', '99999999999'],
  from_ms: ['1795000000000', '0'],
  to_ms: ['1796140800000', '1'],
  right: ['call', 'put'],
  expiries: ['2026-12-18', '2026-12-01,2026-12-18', '2030-01-01'],
  dte: ['0'],
  provenance: ['true', 'false'],
};

/** Texts that parameters of one route are tried with instead, by its name. */
export const ownParamTexts: Record<string, Record<string, readonly string[]>> = {
  'stock-bars': {
    from: ['2026-11-25', '1764374400000', '2026-11-30T09:30', '2026-11-27T12:59:30Z', '2020-01-01', '2026-12-02'],
    to: ['2026-12-01', '1796140800000', '2026-12-01T12:00', '2026-11-30T10:00:00-05:00', '2027-01-01'],
    limit: ['1', '7', '1000', '99999999'],
    source: ['trade', 'mid', 'x'],
  },
  movers: { limit: ['1', '3', '180', '99999999'], universe: ['registry', 'everything'] },
  'gex-history': { from: ['09:30', '09:35', '16:00'], to: ['09:36', '23:59', '09:30'] },
  'gex-reference': { basis: ['open', 'prev_close', 'close'] },
  'gex-figures': {
    preset: ['capture', 'vendor_profile', 'flow'],
    unit: ['per_dollar', 'per_percent', 'shares', 'euros'],
    weight: ['open_interest', 'volume', 'open_interest_and_volume'],
    sign: ['calls_plus', 'by_flow'],
    gamma: ['solved', 'vendor'],
    years: ['calendar', 'weekdays_262'],
    flip: ['cumulative', 'repriced'],
    walls: ['net', 'one_sided'],
    expiries: ['all', 'zero_dte', 'monthly', '0d', '30d', '2026-12-01,2026-12-18', '2030-01-01', 'weekly', '-1d'],
  },
  'large-trades': { limit: ['1', '7', '100', '99999999'] },
  levels: {
    symbol: ['SPY', 'spy', 'SPX', 'ZZZ', 'QQQQ', '1X'],
    basis: ['-12.5', '0', 'x'],
    format: ['xml'],
  },
  screen: {
    where: [
      '{}',
      '{"offExchangePct":{"gt":0}}',
      '{"changePct":{"gt":0}}',
      '{"not":{"netGex":{"isNull":true}}}',
      '{"spot":{"gt":"x"}}',
      '[]',
      'x',
    ],
    order_by: ['change_pct', '-iv30', 'price'],
    limit: ['1', '3', '99999999'],
  },
  'vol-term': { symbol: ['SPY', 'spy', 'SPX', 'ZZZ', 'QQQQ', '1X'] },
  'vol-figures': { symbol: ['SPY', 'spy', 'SPX', 'ZZZ', 'QQQQ', '1X'] },
  'unusual-flow': { symbol: ['SPY', 'spy', 'SPX', 'ZZZ', 'QQQQ', '1X'] },
  'vol-surface': { symbol: ['SPY', 'spy', 'SPX', 'ZZZ', 'QQQQ', '1X'] },
  'option-bars': { limit: ['1', '7', '2000', '99999999'], tf: ['1m', '5m'] },
  ...Object.fromEntries(
    ['concentration', 'activity', 'composition', 'profile'].map((table) => [
      `off-exchange-${table}`,
      { limit: ['1', '3', '7', '5000', '99999999'] },
    ]),
  ),
};

/** Bodies that a route is tried with beside its example's, good and bad, by its name. */
export const otherBodies: Record<string, readonly Required<Pick<RequestTexts, 'body'>>[]> = {
  classify: [{ body: '{"classification":"non_professional","more":1}' }, { body: '{"classification":"no"}' }],
  'create-key': [{ body: '{"name":"Laptop"}' }, { body: '{"name":null}' }, { body: '{"name":5}' }],
  'put-watchlist': [
    { body: '{"name":"Empty","symbols":[]}' },
    { body: '{"name":" ","symbols":[]}' },
    { body: '{"name":"Other","symbols":["spy","XSP","spy"],"id":"stale"}' },
    { body: '{"name":"Unknown","symbols":["QQQQ"]}' },
  ],
  'put-screen': [
    { body: '{"name":"All","where":"{}"}' },
    { body: '{"name":" ","where":"{}"}' },
    { body: '{"name":"Unknown","where":"{\\"price\\":{\\"gt\\":1}}"}' },
    { body: '{"name":"Other","where":"{\\"iv30\\":{\\"gt\\":0.1}}","order_by":null,"id":"stale"}' },
  ],
  'create-journal-account': [
    { body: '{"id":"main","name":"Main"}' },
    { body: '{"name":""}' },
    { body: '{"broker":5}' },
  ],
  'replace-journal-account': [{ body: '{"id":"stale","name":"Other","broker":null}' }, { body: '{"name":5}' }],
  'patch-journal-account': [{ body: '{}' }, { body: '{"name":null}' }, { body: '{"name":"New"}' }],
  'create-journal-trade': [
    {
      body: '{"account_id":"main","symbol":"spy","side":"sell short","qty":0.5,"price":0,"ts":1795000000000,"note":"n"}',
    },
    { body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":-1,"price":600.5}' },
  ],
  'replace-journal-trade': [
    {
      body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":2,"price":600.5,"ts":"2026-11-30T10:00:00Z"}',
    },
    { body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":0,"price":600.5}' },
  ],
  'patch-journal-trade': [{ body: '{}' }, { body: '{"note":null,"ts":null}' }, { body: '{"qty":null}' }],
};
