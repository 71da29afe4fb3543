import { describe, expect, it } from 'vitest';
import { dataFolder } from '../../support/data-folder.ts';
import { storeForThisTest } from '../../support/store.ts';
import { tapegraph } from '../command-line.ts';

describe('an address that cannot be listened at', () => {
  it.each([
    ['HOST', '999.1.1.1', []],
    ['HOST', '192.0.2.1', []],
    ['HOST', '999.1.1.1', ['--workers', '2']],
  ])(
    'ends the start and names the setting: %s=%s',
    async (name, value, args) => {
      const { databaseUrl } = await storeForThisTest();
      const env = { DATABASE_URL: databaseUrl, TAPEGRAPH_DATA: dataFolder(), [name]: value };
      const { code, stderr } = await tapegraph(['serve', '--port', '0', ...args], env);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${value} is no address of this machine`)]);
      expect(stderr).toContain(`choose another with ${name} or --host`);
    },
    60_000,
  );
});
