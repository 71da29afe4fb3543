import http from 'node:http';
import type { TestStore } from '../support/store.ts';

/** A request on a connection of its own; status 0 when the connection broke. */
export function ask(
  { ready }: { ready: { url: string } },
  path: string,
  options: http.RequestOptions,
  body?: object,
): Promise<{ status: number; json: unknown }> {
  const headers = { ...options.headers, ...(body && { 'content-type': 'application/json' }) };
  return new Promise((resolve) => {
    const request = http.request(
      `${ready.url}${path}`,
      { agent: false, timeout: 20_000, ...options, headers },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('error', () => resolve({ status: 0, json: null }));
        response.on('end', () =>
          resolve({ status: response.statusCode!, json: text === '' ? null : JSON.parse(text) }),
        );
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve({ status: 0, json: null }));
    request.end(body && JSON.stringify(body));
  });
}

/** Makes every reader of bars wait, until it is let go. */
export async function barsHeld(store: TestStore): Promise<() => Promise<void>> {
  const tx = await store.pool.connect();
  await tx.query('begin; lock table bar_blocks in access exclusive mode');
  return async () => {
    await tx.query('rollback');
    tx.release();
  };
}
