import { gexRowAt } from '../domain/gex.ts';
import { contractId } from '../domain/option-contract.ts';
import type { Exporter } from './exporter.ts';

/** Every chain captured in the range, a row a contract. */
export const chain: Exporter = {
  describes: 'option chains as captured, a row a contract; strikes in thousandths of a dollar',
  whole: false,
  columns: [
    'symbol',
    'captured_at',
    'session_date',
    'spot',
    'contract',
    'expiry',
    'right',
    'strike',
    'oi',
    'volume',
    'bid',
    'ask',
    'last',
    'fmv',
    'iv',
    'delta',
    'gamma',
    'theta',
    'vega',
    'shares_per_contract',
  ],
  async *rows(store, { symbol, fromMs, toMs }) {
    if (symbol === null) return;
    const [{ captureTimes }, { chainCapturesAt }] = await Promise.all([
      import('../store/capture-times.ts'),
      import('../store/chain-captures.ts'),
    ]);
    for (const atMs of await captureTimes(store, 'chain', symbol, fromMs, toMs)) {
      const [capture] = await chainCapturesAt(store, [{ underlying: symbol, atMs }]);
      for (const row of capture?.rows ?? []) {
        const { expiry, right, strike, openInterest, volume, bid, ask, last, fmv, iv, delta, gamma, theta, vega } = row;
        yield {
          symbol,
          captured_at: atMs,
          session_date: capture!.sessionDate,
          spot: capture!.spot,
          contract: contractId(row),
          expiry,
          right,
          strike,
          oi: openInterest,
          volume,
          bid,
          ask,
          last,
          fmv,
          iv,
          delta,
          gamma,
          theta,
          vega,
          shares_per_contract: row.sharesPerContract,
        };
      }
    }
  },
};

/** Every GEX capture in the range, a row a strike and expiry: their sums are the net rows. */
export const gex: Exporter = {
  describes: 'dealer gamma as captured, a row a strike and expiry; strikes in thousandths of a dollar',
  whole: false,
  columns: [
    'symbol',
    'captured_at',
    'session_date',
    'spot',
    'prior_close_spot',
    'strike',
    'expiry',
    'gex',
    'delta_adj',
    'call_oi',
    'put_oi',
    'gex_0dte',
  ],
  async *rows(store, { symbol, fromMs, toMs }) {
    if (symbol === null) return;
    const [{ captureTimes }, { latestGexCaptures }] = await Promise.all([
      import('../store/capture-times.ts'),
      import('../store/gex-captures.ts'),
    ]);
    for (const atMs of await captureTimes(store, 'gex', symbol, fromMs, toMs)) {
      const capture = (await latestGexCaptures(store, [symbol], atMs, { byExpiry: true })).get(symbol);
      const rows = capture?.byExpiry;
      for (let i = 0; i < (rows?.strike.length ?? 0); i++) {
        const { strike, expiry, gex, deltaAdj, callOi, putOi, gex0dte } = gexRowAt(rows!, i);
        yield {
          symbol,
          captured_at: atMs,
          session_date: capture!.sessionDate,
          spot: capture!.spot,
          prior_close_spot: capture!.priorCloseSpot,
          strike,
          expiry,
          gex,
          delta_adj: deltaAdj,
          call_oi: callOi,
          put_oi: putOi,
          gex_0dte: gex0dte,
        };
      }
    }
  },
};
