import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findLocation, systemHome } from '../../../src/store/embedded/embedded-location.ts';
import { cloneInto } from '../../support/clone.ts';
import { storeProcess } from '../../support/servers/store-process.ts';

const asRoot = process.getuid?.() === 0;
let home: string;
let away: string[];

// mkdtemp makes a folder of mode 0700: nobody but its owner (and root) enters.
beforeEach(() => {
  away = [];
  home = mkdtempSync(join(tmpdir(), 'tapegraph-home-'));
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
  for (const folder of away) rmSync(folder, { recursive: true, force: true });
});

describe('the place of an embedded server', { timeout: 60_000 }, () => {
  test.runIf(asRoot)('is outside a clone under a home that only root may enter, its programs too', async () => {
    const clone = join(home, 'tapegraph');
    const { storeProgram } = cloneInto(clone, { server: 'copied' });
    const dataDir = join(clone, '.data');
    const first = storeProcess(dataDir, 'visit', { script: storeProgram });
    const opened = JSON.parse((await first.until('open')).slice(5));
    away.push(dirname(opened.folder));
    await first.until('closed');
    expect(opened.folder).toMatch(/^\/var\/lib\/tapegraph\/[0-9a-f]{16}\/postgres$/);
    expect(statSync(opened.folder).uid).not.toBe(0);
    expect(statSync(opened.folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(systemHome).some((name) => name.startsWith('programs-'))).toBe(true);
    expect(readFileSync(join(dirname(opened.folder), 'data-folder'), 'utf8').trim()).toBe(dataDir);
    // The same data folder finds the same store.
    const second = storeProcess(dataDir, 'visit', { script: storeProgram });
    await second.until('closed');
    expect(second.lines.join()).not.toContain('Created the database');
    expect(JSON.parse((await second.until('open')).slice(5)).folder).toBe(opened.folder);
  });

  test.runIf(asRoot)('differs for two clones that cannot be entered', () => {
    const places = ['a', 'b'].map((name) => findLocation(join(home, name)).home);
    away.push(...places);
    expect(new Set(places).size).toBe(2);
    expect(places.join()).toContain(systemHome);
  });

  test('is asked for as DATABASE_URL where no server is installed for the platform', async () => {
    const { storeProgram } = cloneInto(join(home, 'clone'), { server: 'absent' });
    const started = storeProcess(join(home, 'data'), 'visit', { script: storeProgram });
    await expect(started.until('open')).rejects.toThrow(
      /StoreRefused: No embedded PostgreSQL is installed for this platform .*set DATABASE_URL/,
    );
  });

  test.runIf(asRoot)('has a socket folder that was made, and not yet given to the server’s user', () => {
    const location = findLocation(join(home, 'data'));
    away.push(location.home);
    // A killed process, or one that starts at the same time, leaves such a folder.
    rmSync(location.socketDir, { recursive: true });
    mkdirSync(location.socketDir, { mode: 0o700 });
    expect(statSync(findLocation(join(home, 'data')).socketDir).uid).toBe(location.owner?.uid);
  });

  test.runIf(process.platform !== 'win32')('is refused when others may look into its socket folder', () => {
    const location = findLocation(join(home, 'data'));
    if (asRoot) away.push(location.home);
    rmSync(location.socketDir, { recursive: true });
    mkdirSync(location.socketDir, { mode: 0o755 });
    expect(() => findLocation(join(home, 'data'))).toThrow(/socket belongs to user \d+ \(mode 755\)/);
    rmSync(location.socketDir, { recursive: true });
  });
});
