import type { Caller } from '../../access/caller.ts';

/** The caller, and the rights of the request. */
export type Me = Caller;
