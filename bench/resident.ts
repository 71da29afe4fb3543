import { setTimeout as delay } from 'node:timers/promises';
import { metricsToken, type Served } from './sample-server.ts';

/** Most that a process may hold more of memory after requests than before them, MB. */
export const mostMoreMb = 20;

/**
 * Time a process is left alone before its memory is read, ms. An idle process does not collect its garbage, so the
 * memory after a collection is compared.
 */
const settleMs = 10_000;

/** Prints what a server holds in memory. Returns what is resident after a collection, MB. */
export async function residentMb(server: Served, what: string): Promise<number> {
  await delay(settleMs);
  const left = await server.state();
  // Buffers are freed by another thread.
  await server.state('collect');
  await delay(1000);
  const live = await server.state();
  const sizes = [left.rss, live.rss, live.heapUsed, live.heapTotal, live.external, live.arrayBuffers];
  const [rss, collected, heap, heapTotal, external, buffers] = sizes.map((bytes) => (bytes / 2 ** 20).toFixed(0));
  console.log(
    `memory ${what}: resident ${rss} MB; after a collection ${collected} MB, objects ${heap} MB of a heap of ` +
      `${heapTotal} MB, ${external} MB outside, ${buffers} MB of it buffers`,
  );
  return live.rss / 2 ** 20;
}

/** Time after which a server that has nothing to do has returned its memory, ms. */
const returnedMs = 60_000;

/** Memory that the caches of a server hold, which their bounds limit, MB. */
export async function cachedMb({ url }: Pick<Served, 'url'>): Promise<number> {
  const headers = { authorization: `Bearer ${metricsToken}` };
  const text = await (await fetch(`${url}/metrics`, { headers })).text();
  const sizes = [...text.matchAll(/^tapegraph_cache_bytes\{[^}]*\} (\S+)$/gm)].map(([, bytes]) => Number(bytes));
  if (sizes.length === 0) throw new Error('the server says no sizes of caches');
  return sizes.reduce((sum, bytes) => sum + bytes, 0) / 2 ** 20;
}

/**
 * Memory of an idle server that no cache holds, a minute later and without a collection that it was asked for, MB:
 * what is resident, less what is cached.
 */
export async function returnedMb(server: Served): Promise<number> {
  await delay(returnedMs);
  return (await server.state()).rss / 2 ** 20 - (await cachedMb(server));
}
