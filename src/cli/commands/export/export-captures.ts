import { shownGreek } from '../../../core/domain/chain/chain.ts';
import { chainColumns, greekColumns, greekNames } from '../../../core/domain/chain/chain-columns.ts';
import { contractId } from '../../../core/domain/chain/option-contract.ts';
import { restRows, restTypes } from '../../../core/domain/columns.ts';
import { gexRowAt } from '../../../core/domain/gex/gex.ts';
import { strikeColumns } from '../../../core/domain/gex/gex-columns.ts';
import type { Exporter } from './exporter.ts';

const chainNumbers = restRows(chainColumns);
const strikeNumbers = restRows(strikeColumns);

/** Every chain captured in the range, one row per contract. */
export const chain: Exporter = {
  describes: 'captured option chains, one row per contract; strikes in thousandths of a dollar',
  whole: false,
  dateOf: (row) => String(row.session_date),
  columns: {
    symbol: 'text',
    captured_at: 'int64',
    session_date: 'text',
    spot: 'float64',
    contract: 'text',
    expiry: 'text',
    right: 'text',
    strike: 'int64',
    ...restTypes(chainColumns),
    ...Object.fromEntries(greekNames.map((name) => [`solved_${name}`, greekColumns[name].type])),
    delay_ms: 'int64',
    methodology_version: 'text',
  },
  async *rows(store, { symbol, fromMs, toMs }) {
    if (symbol === null) return;
    const [{ captureTimes }, { chainCapturesAt }, { latestGexCaptures }] = await Promise.all([
      import('../../../store/chain/capture-times.ts'),
      import('../../../store/chain/chain-captures.ts'),
      import('../../../store/gex/captures.ts'),
    ]);
    for (const atMs of await captureTimes(store, 'chain', symbol, fromMs, toMs)) {
      const [capture] = await chainCapturesAt(store, [{ underlying: symbol, atMs }]);
      const computed = (await latestGexCaptures(store, [symbol], atMs, { byExpiry: false })).get(symbol);
      const methodologyVersion = computed?.capturedAt === atMs ? computed.methodologyVersion : null;
      for (const row of capture?.rows ?? []) {
        const { expiry, right, strike, solved } = row;
        yield {
          symbol,
          captured_at: atMs,
          session_date: capture!.sessionDate,
          spot: capture!.spot,
          contract: contractId(row),
          expiry,
          right,
          strike,
          ...chainNumbers(row),
          ...Object.fromEntries(greekNames.map((name) => [name, shownGreek(row, name)])),
          ...Object.fromEntries(greekNames.map((name) => [`solved_${name}`, solved?.[name] ?? null])),
          delay_ms: capture!.delayMs ?? null,
          methodology_version: methodologyVersion,
        };
      }
    }
  },
};

/** Every GEX capture in the range, one row per strike and expiry; their sums are the net rows. */
export const gex: Exporter = {
  describes: 'captured dealer gamma, one row per strike and expiry; strikes in thousandths of a dollar',
  whole: false,
  dateOf: (row) => String(row.session_date),
  columns: {
    symbol: 'text',
    captured_at: 'int64',
    session_date: 'text',
    spot: 'float64',
    prior_close_spot: 'float64',
    strike: 'int64',
    expiry: 'text',
    ...restTypes(strikeColumns),
    implied_spot: 'float64',
    spot_stale: 'bool',
    delay_ms: 'int64',
    methodology_version: 'text',
  },
  async *rows(store, { symbol, fromMs, toMs }) {
    if (symbol === null) return;
    const [{ captureTimes }, { latestGexCaptures }] = await Promise.all([
      import('../../../store/chain/capture-times.ts'),
      import('../../../store/gex/captures.ts'),
    ]);
    for (const atMs of await captureTimes(store, 'gex', symbol, fromMs, toMs)) {
      const capture = (await latestGexCaptures(store, [symbol], atMs, { byExpiry: true })).get(symbol);
      const rows = capture?.byExpiry;
      for (let i = 0; i < (rows?.strike.length ?? 0); i++) {
        const row = gexRowAt(rows!, i);
        yield {
          symbol,
          captured_at: atMs,
          session_date: capture!.sessionDate,
          spot: capture!.spot,
          prior_close_spot: capture!.priorCloseSpot,
          strike: row.strike,
          expiry: row.expiry,
          ...strikeNumbers(row),
          implied_spot: capture!.impliedSpot,
          spot_stale: capture!.spotStale,
          delay_ms: capture!.delayMs,
          methodology_version: capture!.methodologyVersion,
        };
      }
    }
  },
};
