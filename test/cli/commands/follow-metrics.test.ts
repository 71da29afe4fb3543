import { expect, it, onTestFinished, vi } from 'vitest';
import { storeForThisTest } from '../../support/store.ts';
import { start } from '../command-line.ts';

it('a follower tells what has come, what was left out, and when it last stored something', {
  timeout: 90_000,
}, async () => {
  const { databaseUrl } = await storeForThisTest();
  const { child, ended } = start(['follow', '--metrics-port', '0'], { DATABASE_URL: databaseUrl });
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr!.on('data', (chunk) => {
    log += chunk;
  });
  const url = await vi.waitUntil(() => /http:\/\/\S+\/metrics/.exec(log)?.[0], { timeout: 60_000 });
  const read = async (name: string) => {
    const text = await (await fetch(url!)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };
  expect(await read('tapegraph_follow_last_commit_timestamp_seconds')).toBe(0);
  const tape = '{"type":"time","sip_timestamp":"1795099800000000000"}\nrubbish\n';
  child.stdin!.write(tape);
  await expect.poll(() => read('tapegraph_follow_commits_total'), { timeout: 20_000 }).toBeGreaterThan(0);
  expect(await read('tapegraph_follow_bytes_total')).toBe(tape.length);
  expect(await read('tapegraph_follow_bad_lines_total')).toBe(1);
  expect(await read('tapegraph_follow_last_commit_timestamp_seconds')).toBeGreaterThan(Date.now() / 1000 - 60);
  child.stdin!.end();
  expect((await ended).code).toBe(0);
});
