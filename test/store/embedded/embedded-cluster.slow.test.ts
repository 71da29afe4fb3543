import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { createCluster } from '../../../src/store/embedded/embedded-cluster.ts';
import { type EmbeddedLocation, findLocation } from '../../../src/store/embedded/embedded-location.ts';
import { dataFolder } from '../../support/data-folder.ts';

/** A location whose initdb writes into its folder for ever, from a process of its own. */
function endless(): EmbeddedLocation {
  const location = findLocation(dataFolder());
  const programs = dataFolder();
  const bin = join(programs, 'bin');
  mkdirSync(bin);
  // Arguments: --pgdata FOLDER …
  writeFileSync(join(bin, 'initdb'), '#!/bin/sh\n(while :; do echo >> "$2/half"; done) & wait\n', { mode: 0o755 });
  for (const folder of [programs, bin]) chmodSync(folder, 0o755);
  return { ...location, programs };
}

const drafts = ({ home }: EmbeddedLocation) => readdirSync(home).filter((name) => name.startsWith('postgres.new-'));

describe.skipIf(process.platform === 'win32')('the creation of a cluster', () => {
  test('ends at once when it is stopped, and leaves nothing that the next start would meet', async () => {
    const location = endless();
    const stop = new AbortController();
    const creating = createCluster(location, stop.signal);
    const failed = expect(creating).rejects.toThrow('asked to stop');
    // The event loop continues meanwhile.
    await vi.waitUntil(() => drafts(location).some((name) => existsSync(join(location.home, name, 'half'))), 20_000);
    stop.abort(new Error('asked to stop'));
    await failed;
    expect(drafts(location)).toEqual([]);
    expect(existsSync(location.cluster)).toBe(false);
    const own = findLocation(location.home);
    await createCluster(own);
    expect(existsSync(join(own.cluster, 'PG_VERSION'))).toBe(true);
  });

  test('is not begun when it is stopped before', async () => {
    const location = endless();
    const reason = new Error('asked to stop');
    await expect(createCluster(location, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(drafts(location)).toEqual([]);
  });

  test('that two begin at the same time in one process is done once', async () => {
    const location = findLocation(dataFolder());
    await Promise.all([createCluster(location), createCluster(location)]);
    expect(drafts(location)).toEqual([]);
    expect(existsSync(join(location.cluster, 'PG_VERSION'))).toBe(true);
  });
});
