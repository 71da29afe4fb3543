/** Statuses of a flip point, in the order in which they are tried: the first that holds. */
export const flipStatuses = ['no_strikes', 'no_crossing', 'partial', 'remote', 'fragile', 'crosses'] as const;
export type FlipStatus = (typeof flipStatuses)[number];
