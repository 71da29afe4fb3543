import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { SharedCache } from './shared-cache.ts';

/** Debian's Varnish, or the one that VARNISHD names; null if there is none. */
export const varnishPath: string | null =
  [process.env.VARNISHD, '/usr/sbin/varnishd'].find((path) => path !== undefined && existsSync(path)) ?? null;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string): Promise<boolean> {
  for (let i = 0; i < 150; i += 1) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return true;
    await delay(100);
  }
  return false;
}

/** Starts a stock Varnish, with its default rules, in front of an origin that answers `/healthz`. */
export async function varnish(originUrl: string): Promise<SharedCache> {
  const folder = mkdtempSync(join(tmpdir(), 'varnish-'));
  // Started as root it works as a user of its own, who has to get there.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const options = [
    '-F',
    '-n',
    join(folder, 'work'),
    '-a',
    `127.0.0.1:${port}`,
    '-b',
    new URL(originUrl).host,
    '-s',
    'malloc,64m',
  ];
  const child = spawn(varnishPath!, options, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    if (child.exitCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  if (await answers(`${url}/healthz`)) return { url, close };
  await close();
  throw new Error(`Varnish does not answer: ${said}`);
}
