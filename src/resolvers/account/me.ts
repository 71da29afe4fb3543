import type { Caller } from '../../access/caller.ts';

/** Who asks, and under what the request is served. */
export type Me = Caller;
