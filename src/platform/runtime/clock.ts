/**
 * The current time, epoch ms. Passed in from the command line, so that a server can run at another time (`--clock`).
 */
export type Clock = () => number;

/** Milliseconds in a minute, an hour, a day. */
export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
