import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { notRunOutsideCi } from '../not-run.ts';

/** True if this machine has the program; without it, tests of a tape in NATS are skipped with a message. */
export const hasNatsServer = spawnSync('nats-server', ['--version']).status === 0;
if (!hasNatsServer) notRunOutsideCi('tests of a tape in NATS', 'nats-server is not installed');

/** Starts a server with JetStream on a port of its own, gone when the test ends. Returns the port. */
export async function natsServer(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph-nats-'));
  const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', folder]);
  const gone = new Promise((resolve) => server.once('close', resolve));
  onTestFinished(async () => {
    server.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  let log = '';
  for await (const chunk of server.stderr) {
    log += chunk;
    const port = /client connections on 127\.0\.0\.1:(\d+)/.exec(log)?.[1];
    if (port !== undefined && log.includes('Server is ready')) {
      server.stderr.on('data', () => {});
      return Number(port);
    }
  }
  throw new Error(`nats-server ended: ${log}`);
}
