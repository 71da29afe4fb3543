import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/run.ts';
import { tapegraph, tapegraphProcess } from './command-line.ts';

const quiet = {
  env: {},
  now: () => 0,
  stdout: process.stdout,
  stderr: process.stderr,
  interrupted: new AbortController().signal,
};

/** Every command that does something, as words. */
function commandLines(): string[][] {
  const walk = (command: ReturnType<typeof createProgram>, words: string[]): string[][] =>
    command.commands.length === 0
      ? [words]
      : command.commands.flatMap((child) => walk(child, [...words, child.name()]));
  return walk(createProgram(quiet), []);
}

describe('the command line', () => {
  it.each(commandLines().map((words) => words.join(' ')))('%s --help explains itself with examples', async (words) => {
    const { code, stdout, stderr } = await tapegraph([...words.split(' '), '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: tapegraph ${words}`);
    expect(stdout).toContain(`$ tapegraph ${words}`);
    expect(stdout).toContain('--json');
  });

  it('lists its commands with --help and says its version', async () => {
    const help = await tapegraph(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const words of commandLines()) expect(help.stdout).toContain(`\n  ${words[0]} `);
    expect((await tapegraph(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    ['nothing at all', []],
    ['an unknown command', ['frobnicate']],
    ['an unknown option', ['config', '--frobnicate']],
    ['an argument too many', ['config', 'extra']],
    ['an option without its value', ['config', '--data']],
  ])('leaves with 2 and says how to get help for %s', async (_, args) => {
    const { code, stdout, stderr } = await tapegraph(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--help');
  });

  it('leaves with 1 when a setting is wrong, in one line that names it', async () => {
    const { code, stdout, stderr } = await tapegraphProcess(['config'], { PORT: 'http' });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tapegraph: PORT: expected a port, a whole number from 0 to 65535, got "http"\n',
    });
  });

  it('shows a stack only when asked to debug', async () => {
    expect((await tapegraph(['config'], { PORT: 'http' })).stderr).not.toMatch(/\n\s+at /);
    expect((await tapegraph(['config'], { PORT: 'http', LOG_LEVEL: 'debug' })).stderr).toMatch(/\n\s+at /);
  });

  it('prints exactly one JSON object with --json, when it fails too', async () => {
    const failed = await tapegraphProcess(['config', '--json'], { PORT: 'http' });
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toEqual({ error: { message: expect.stringContaining('PORT') } });
    const misused = await tapegraphProcess(['config', '--json', '--frobnicate']);
    expect(misused.code).toBe(2);
    expect(JSON.parse(misused.stdout)).toEqual({ error: { message: expect.stringContaining('--frobnicate') } });
  });

  it('runs by its bin file, with the exit code of the command', () => {
    const ran = spawnSync(process.execPath, ['bin/tapegraph.mjs', 'frobnicate'], { encoding: 'utf8' });
    expect(ran.status).toBe(2);
  });
});
