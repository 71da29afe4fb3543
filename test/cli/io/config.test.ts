import { describe, expect, it } from 'vitest';
import { variableNames } from '../../../src/platform/config/config.ts';
import { tapegraph, tapegraphProcess } from '../command-line.ts';

const secrets = {
  DATABASE_URL: 'postgres://me:hunter2@db/market',
  REDIS_URL: 'redis://:hunter2@cache',
  SESSION_SECRET: 'hunter2',
};

describe('tapegraph config', () => {
  it('shows every setting and no secret', async () => {
    for (const args of [['config'], ['config', '--json']]) {
      const { code, stdout, stderr } = await tapegraphProcess(args, secrets);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      for (const name of variableNames) expect(stdout).toContain(name);
      expect(stdout).toContain('postgres://me:***@db/market');
      expect(stdout).not.toContain('hunter2');
    }
  });

  it('prints one JSON object with --json', async () => {
    const { stdout } = await tapegraph(['config', '--json', '--data', '/srv/market'], { RATE_PRO: '1000' });
    expect(stdout.endsWith('}\n')).toBe(true);
    expect(JSON.parse(stdout)).toMatchObject({ TAPEGRAPH_DATA: '/srv/market', RATE_PRO: 1000, DATABASE_URL: null });
  });
});
