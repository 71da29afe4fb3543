import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A data folder for an embedded store of its own, with a space in its path; gone when the test ends. Open to root's
 * server, which runs as another user: in a folder closed to it the store would live, and stay, under
 * /var/lib/tapegraph.
 */
export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tapegraph data '));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
