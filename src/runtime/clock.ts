/**
 * The current time, epoch ms. Passed in from the command line, so that a server can run at another time (`--clock`).
 */
export type Clock = () => number;
