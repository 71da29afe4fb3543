import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainServer, tagged } from '../../support/chain-server.ts';
import { type TestStore, testStore } from '../../support/store.ts';
import { start, tapegraph } from '../command-line.ts';

const option = (right: string) => ({
  option: `XYZ241220${right}00100000`,
  bid: 5,
  ask: 5.2,
  open_interest: 9,
  iv: 0.2,
});
const chain = JSON.stringify({
  timestamp: '2024-11-26 14:31:00',
  data: { options: [option('C'), option('P')], current_price: 100, prev_day_close: 99 },
});

let store: TestStore;
let env: Record<string, string>;
beforeAll(async () => {
  store = await testStore();
  env = { DATABASE_URL: store.databaseUrl };
});
afterAll(() => store.close());

describe('tapegraph capture chains', () => {
  it('captures once, under the names of the source, and leaves with 1 when a symbol failed', async () => {
    const server = await chainServer();
    server.serve('_XYZ', tagged(chain, '"1"'));
    const args = ['capture', 'chains', '--once', '--json', '--url', server.url('').concat('{symbol}'), '--symbols'];
    const both = await tapegraph([...args, 'XYZ=_XYZ, nope'], env);
    expect(both.code).toBe(1);
    expect(JSON.parse(both.stdout)).toEqual({
      symbols: {
        XYZ: { captured: 1, unchanged: 0, failed: 0 },
        NOPE: { captured: 0, unchanged: 0, failed: 1 },
      },
    });
    const log = both.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(log).toContainEqual(expect.objectContaining({ symbol: 'NOPE', msg: 'NOPE: the source answered 404' }));
    expect(log).toContainEqual(
      expect.objectContaining({ symbol: 'XYZ', captured_at: '2024-11-26T14:31:00.000Z', contracts: 2, partial: false }),
    );
    const again = await tapegraph([...args, 'xyz=_XYZ'], env);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout).symbols).toEqual({ XYZ: { captured: 0, unchanged: 1, failed: 0 } });
  });

  it('goes on until SIGTERM, says what it did, and leaves with 0', async () => {
    const server = await chainServer();
    const url = server.serve('ABC', tagged(chain.replaceAll('XYZ', 'ABC'), '"1"')).replace('ABC', '{symbol}');
    const { child, ended } = start(
      ['capture', 'chains', '--symbols', 'ABC', '--url', url, '--always', '--every', '1s'],
      env,
    );
    await expect.poll(() => server.requests.length, { timeout: 20_000 }).toBeGreaterThan(2);
    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^symbol +captured +unchanged +failed\nABC +1 +\d+ +0\n$/);
  });

  it.each([
    ['no symbols', ['--url', 'http://x/{symbol}'], '--symbols'],
    ['no url', ['--symbols', 'XYZ'], '--url'],
    ['a symbol that is none', ['--symbols', 'XYZ,?', '--url', 'http://x/{symbol}'], 'Expected a ticker'],
    ['a symbol twice', ['--symbols', 'XYZ,xyz', '--url', 'http://x/{symbol}'], 'XYZ is listed twice'],
    ['a url without a place for the symbol', ['--symbols', 'XYZ', '--url', 'http://x/'], '{symbol}'],
    ['a url that is none of HTTP', ['--symbols', 'XYZ', '--url', 'file:///{symbol}'], 'http or https'],
    ['a time that is none', ['--symbols', 'XYZ', '--url', 'http://x/{symbol}', '--every', 'often'], 'duration'],
  ])('leaves with 2 for %s and says what was expected', async (_, args, expected) => {
    const { code, stdout, stderr } = await tapegraph(['capture', 'chains', ...args], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });
});
