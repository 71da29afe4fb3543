import { resolve } from 'node:path';

/**
 * A file of the real market data kept beside the project (never in it). Tests that read it are passed over where it is
 * missing and say so in their names.
 */
export function sharedData(path: string): string {
  return resolve(process.env.TAPEGRAPH_SHARED_DATA ?? '../shared/data', path);
}
