import { contractId } from '../../../core/domain/chain/option-contract.ts';
import { exchangeDate } from '../../../core/domain/market-time.ts';
import { barColumns, exportedBar } from './bar-columns.ts';
import type { Exporter } from './exporter.ts';

/** Bars of every contract of an underlying, by session and contract. */
export const optionBars: Exporter = {
  describes: 'bars of an underlying’s contracts, by session, then contract; --timeframe 1m or 5m',
  whole: false,
  timeframes: ['1m', '5m'],
  columns: {
    symbol: 'text',
    contract: 'text',
    ...barColumns,
  },
  async *rows(store, { symbol, timeframe, fromMs, toMs }) {
    if (symbol === null || (timeframe !== '1m' && timeframe !== '5m')) return;
    const [{ readOptionBars }, { storedOptionBars }] = await Promise.all([
      import('../../../store/chain/option-bars.ts'),
      import('../../../store/chain/stored-option-bars.ts'),
    ]);
    const sessions = await storedOptionBars(store, symbol, exchangeDate(fromMs), exchangeDate(toMs));
    for (const { sessionDate, contract } of sessions) {
      const { bars } = await readOptionBars(store, { underlying: symbol, contract }, sessionDate, timeframe);
      for (let i = 0; i < bars.tsMs.length; i++) {
        const tsMs = bars.tsMs[i]!;
        if (tsMs < fromMs || tsMs >= toMs) continue;
        yield { symbol, contract: contractId(contract), timeframe, ...exportedBar(bars, i) };
      }
    }
  },
};
