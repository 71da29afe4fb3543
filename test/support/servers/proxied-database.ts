import { onTestFinished } from 'vitest';
import { type FlakyProxy, flakyProxy } from '../../access/flaky-proxy.ts';

/**
 * A database's URL by which every connection goes through a proxy that can be taken away, or let hang, until the test
 * ends. `passes` as of `flakyProxy`.
 */
export async function proxiedDatabase(
  databaseUrl: string,
  passes?: (sent: Buffer) => boolean,
): Promise<{ proxy: FlakyProxy; url: string }> {
  const url = new URL(databaseUrl.replace('@/', '@none/'));
  const proxy = await flakyProxy(
    url.searchParams.get('host') ?? url.hostname,
    Number(url.searchParams.get('port') ?? (url.port || 5432)),
    passes,
  );
  onTestFinished(() => proxy.takeAway());
  return { proxy, url: `postgresql://${url.username}@127.0.0.1:${proxy.port}${url.pathname}` };
}
