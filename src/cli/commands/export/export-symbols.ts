import type { Exporter } from './exporter.ts';

/** The symbols, in the columns of the symbol list, so that an export can be ingested. */
export const symbols: Exporter = {
  describes: 'the registry and ticker directory, in the columns that ingest reads; all symbols without --symbol',
  whole: true,
  columns: {
    symbol: 'text',
    name: 'text',
    class: 'text',
    window_days: 'int32',
    tenor_frame: 'text',
    min_tier: 'text',
    requires_attestation: 'bool',
    sector: 'text',
    listed: 'bool',
    instrument_type: 'text',
  },
  async *rows(store, { symbol }) {
    const { allSymbols } = await import('../../../store/market/symbols.ts');
    for (const entry of await allSymbols(store)) {
      if (symbol !== null && entry.symbol !== symbol) continue;
      yield {
        symbol: entry.symbol,
        name: entry.name,
        class: entry.class,
        window_days: entry.windowDays,
        tenor_frame: entry.tenorFrame,
        min_tier: entry.minTier,
        requires_attestation: entry.requiresAttestation,
        sector: entry.sector,
        listed: entry.registered,
        instrument_type: entry.instrumentType,
      };
    }
  },
};
