import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ingestFiles } from '../../../src/intake/ingest/ingest.ts';
import { removeAbandonedFolders, temporaryFolder } from '../../../src/platform/runtime/folders.ts';
import { storeForThisTest } from '../../support/store.ts';
import { temporaryFolder as folderOfTest } from '../../support/temporary-folder.ts';

const folder = folderOfTest();

/** A process that makes a folder in `parent` and stays; the folder's path. */
async function maker(parent: string) {
  const module = new URL('../../../src/platform/runtime/folders.ts', import.meta.url);
  const program = `import { temporaryFolder } from ${JSON.stringify(module)};
    console.log(await temporaryFolder('object', ${JSON.stringify(parent)}));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { made: line.toString().trim(), kill };
}

test('what a killed process left is removed, what a living one uses stays', async () => {
  const parent = folder();
  const [killed, living] = [await maker(parent), await maker(parent)];
  await killed.kill();
  const own = await temporaryFolder('sort', parent);
  await writeFile(join(killed.made, 'object'), 'half of it');
  await removeAbandonedFolders(parent);
  expect([killed.made, living.made, own].map((path) => existsSync(path))).toEqual([false, true, true]);
  await living.kill();
});

test('a folder of an earlier process with our id is removed; one of another host, or of somebody else, stays', async () => {
  const parent = folder();
  const own = basename(await temporaryFolder('object', parent));
  const earlier = own.replace(/-\d+-(?=\w{6}$)/, '-1-');
  const elsewhere = own.replace(/^tapegraph-object-/, 'tapegraph-object-not-');
  const foreign = ['tapegraph-object-abc', 'tapegraph-test-1-1-abcdef', 'somebody-1-1-abcdef'];
  for (const name of [earlier, elsewhere, ...foreign]) mkdirSync(join(parent, name));
  await removeAbandonedFolders(parent);
  const there = [own, earlier, elsewhere, ...foreign].map((name) => existsSync(join(parent, name)));
  expect(there).toEqual([true, false, true, true, true, true]);
});

test('an ingest removes what an ingest that was killed had fetched', async () => {
  const parent = folder();
  const { made, kill } = await maker(parent);
  await kill();
  vi.stubEnv('TMPDIR', parent);
  const file = join(parent, 'bars.csv');
  await writeFile(file, 'ticker,volume,open,close,high,low,window_start,transactions\n');
  await ingestFiles(await storeForThisTest(), 'stock-minute-bars', [file], { now: () => 1_800_000_000_000 });
  vi.unstubAllEnvs();
  expect(existsSync(made)).toBe(false);
});
