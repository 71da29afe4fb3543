/** Origins of a stored session: the sample market, vendor files, or a live tape. */
export const dataOrigins = ['sample', 'file', 'live'] as const;
export type DataOrigin = (typeof dataOrigins)[number];

/** The default origin of sessions. */
export const usualOrigin: DataOrigin = 'file';
