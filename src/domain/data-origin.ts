/** Where a stored session comes from: the sample market, vendor files, or a live tape. */
export const dataOrigins = ['sample', 'file', 'live'] as const;
export type DataOrigin = (typeof dataOrigins)[number];

/** The origin of sessions of which none is noted. */
export const usualOrigin: DataOrigin = 'file';
