/** Selectable lengths of a candle. */
export const timeframes = ['1m', '5m', '1h', '1d'] as const;
export type Timeframe = (typeof timeframes)[number];
