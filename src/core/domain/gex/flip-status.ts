/** Statuses of a flip point, in order of precedence. */
export const flipStatuses = ['no_strikes', 'no_crossing', 'partial', 'remote', 'fragile', 'crosses'] as const;
export type FlipStatus = (typeof flipStatuses)[number];
