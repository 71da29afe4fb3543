import { sourceTime } from '../../../core/domain/chain/chain.ts';
import type { Exporter } from './exporter.ts';

/** Inputs of every GEX capture in the range, one row per root and expiry; captures of older versions have none. */
export const gexInputs: Exporter = {
  describes: 'what captured dealer gamma was computed from, one row per option root and expiry',
  whole: false,
  dateOf: (row) => String(row.session_date),
  columns: {
    symbol: 'text',
    captured_at: 'int64',
    session_date: 'text',
    source_time: 'int64',
    delay_ms: 'int64',
    methodology_version: 'text',
    product_version: 'text',
    file: 'text',
    file_sha256: 'text',
    gamma_source: 'text',
    gamma_decimals: 'int32',
    expiry: 'text',
    root: 'text',
    years: 'float64',
    rate: 'float64',
    forward: 'float64',
    dividend_yield: 'float64',
    dividend: 'float64',
    dividend_ex_date: 'text',
    dividend_source: 'text',
  },
  async *rows(store, { symbol, fromMs, toMs }) {
    if (symbol === null) return;
    const [{ captureTimes }, { latestGexCaptures }, { gexInputsOf }] = await Promise.all([
      import('../../../store/chain/capture-times.ts'),
      import('../../../store/gex/captures.ts'),
      import('../../../store/gex/inputs.ts'),
    ]);
    for (const atMs of await captureTimes(store, 'gex', symbol, fromMs, toMs)) {
      const capture = (await latestGexCaptures(store, [symbol], atMs, { byExpiry: false })).get(symbol);
      const [inputs] = capture ? await gexInputsOf(store, [capture]) : [];
      for (const { expiry, root, years, rate, forward, dividendYield, dividend } of inputs?.expiries ?? [])
        yield {
          symbol,
          captured_at: atMs,
          session_date: capture!.sessionDate,
          source_time: sourceTime(capture!),
          delay_ms: capture!.delayMs,
          methodology_version: capture!.methodologyVersion,
          product_version: inputs!.productVersion,
          file: inputs!.file?.name ?? null,
          file_sha256: inputs!.file?.sha256 ?? null,
          gamma_source: capture!.gammaSource,
          gamma_decimals: capture!.gammaDecimals,
          expiry,
          root,
          years,
          rate,
          forward,
          dividend_yield: dividendYield,
          dividend: dividend?.amount ?? null,
          dividend_ex_date: dividend?.exDate ?? null,
          dividend_source: dividend?.source ?? null,
        };
    }
  },
};
