import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** A project that passes; each test spoils one thing. */
const sound = {
  'src/core/domain/tick.ts': 'export const tick = 1;\n',
  'src/core/analytics/sum.ts': "import { tick } from '../domain/tick.ts';\nexport const sum = tick + tick;\n",
  'src/store/rows.ts': "import pg from 'pg';\nexport const pool = pg;\n",
  'src/platform/config/config.ts': 'export interface Config {\n  port: number;\n}\n',
  'src/main.ts': "import { sum } from './core/analytics/sum.ts';\nconsole.log(sum, process.env.PORT, Date.now());\n",
};

function check(changes: Record<string, string>, base: Record<string, string> = sound) {
  const folder = mkdtempSync(join(tmpdir(), 'layers-'));
  folders.push(folder);
  for (const [file, text] of Object.entries({ ...base, ...changes })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const ran = spawnSync(process.execPath, ['scripts/check-layers.ts', folder], { encoding: 'utf8' });
  return {
    code: ran.status,
    findings: ran.stderr.trim().split('\n').slice(0, -1),
    summary: ran.stderr.trim().split('\n').at(-1),
  };
}

describe('the layer check', () => {
  it('passes a sound project', () => {
    expect(check({})).toEqual({ code: 0, findings: [], summary: 'layers: 5 modules, 3 imports, 0 findings' });
  });

  it('passes this project, having looked at it', () => {
    const ran = spawnSync(process.execPath, ['scripts/check-layers.ts'], { encoding: 'utf8' });
    expect(ran).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^layers: [1-9]\d+ modules, [1-9]\d+ imports, 0 findings\n$/),
    });
  });

  it('lets a layer import what is generated for it', () => {
    const importing = "import { A } from '../../generated/store/a.ts';\nexport const b = A;\n";
    const files = { 'generated/store/a.ts': 'export const A = 1;\n', 'src/store/b.ts': importing };
    expect(check(files)).toMatchObject({ code: 0, findings: [] });
    expect(check({ ...files, 'src/access/b.ts': importing })).toMatchObject({
      code: 1,
      findings: [expect.stringContaining('src/access may not import what is outside src')],
    });
  });

  it('fails when it finds no modules, and when it finds no imports', () => {
    expect(check({}, { 'README.md': '' })).toMatchObject({
      code: 1,
      findings: [expect.stringContaining('nothing was checked')],
    });
    expect(check({}, { 'src/core/domain/a.ts': 'export const a = 1;' })).toMatchObject({
      code: 1,
      findings: [expect.stringContaining('nothing was checked')],
    });
  });

  it.each([
    ['an import', "import { sum } from '../analytics/sum.ts';"],
    ['an import over several lines', "import {\n  sum,\n} from '../analytics/sum.ts';"],
    ['an import of a type', "import type { sum } from '../analytics/sum.ts';"],
    ['a re-export', "export * from '../analytics/sum.ts';"],
    ['an import for its effect', "import '../analytics/sum.ts';"],
    ['a dynamic import', "export const late = () => import('../analytics/sum.ts');"],
    ['a type that imports', "export type Sum = typeof import('../analytics/sum.ts');"],
    [
      'an import after things that look like comments and strings',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a module
      "export const a = /\\/\\*['\"`]/;\nexport const b = `//${'/*'}`;\nexport * from '../analytics/sum.ts';",
    ],
  ])('fails on %s that points the wrong way', (_, text) => {
    const { code, findings } = check({ 'src/core/domain/bad.ts': `${text}\n` });
    expect(code).toBe(1);
    expect(findings).toEqual([
      expect.stringMatching(/^src\/core\/domain\/bad\.ts:\d {2}core\/domain may not import core\/analytics/),
    ]);
  });

  it.each([
    ['a division', 'export const a = [4];\nexport const b = a[0]! / 2 + a.length / 2;'],
    ['a negated pattern', "export const a = !/import '/.test('');"],
    ['a comment', "// import { sum } from '../analytics/sum.ts';\n/* import '../analytics/sum.ts'; */"],
    ['a string', `export const text = "import { sum } from '../analytics/sum.ts'";`],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a module
    ['a template', "export const text = `\nimport '../analytics/sum.ts';\n${'x'}\nimport('../analytics/sum.ts')`;"],
  ])('does not take %s for an import', (_, text) => {
    expect(check({ 'src/core/domain/fine.ts': `${text}\n` })).toMatchObject({ code: 0, findings: [] });
  });

  it.each([
    [
      'Prisma outside the store',
      'src/access/keys.ts',
      "import { PrismaClient } from '@prisma/client';",
      'only src/store may import the database',
    ],
    [
      'the generated client outside the store',
      'src/cli/x.ts',
      "import type { Symbol } from '../../generated/store/client.ts';",
      'src/cli may not import what is outside src',
    ],
    [
      'pg outside the store',
      'src/access/keys.ts',
      "import type { Pool } from 'pg';",
      'only src/store may import the database',
    ],
    [
      'an import that leads nowhere',
      'src/core/domain/a.ts',
      "import { x } from './missing.ts';",
      'a file that is not there',
    ],
    ['an import out of src', 'src/cli/a.ts', "import { x } from '../../scripts/x.ts';", 'what is outside src'],
    ['a computed import', 'src/cli/a.ts', 'export const load = (name: string) => import(name);', 'something computed'],
    ['a folder nobody knows', 'src/misc/a.ts', 'export const a = 1;', 'src/misc is not known'],
    ['the environment', 'src/store/a.ts', 'export const home = process.env.HOME;', 'reads process.env'],
    ['the clock', 'src/store/a.ts', 'export const at = Date.now();', 'reads Date.now'],
    ['the clock as a date', 'src/store/a.ts', 'export const at = new Date().toISOString();', 'reads new Date()'],
    ['randomness', 'src/store/a.ts', 'export const dice = Math.random();', 'reads Math.random'],
    [
      'the clock in figures',
      'src/resolvers/gex/a.ts',
      'export const at = ({ nowMs }: Clocked) => nowMs;',
      'reads the clock',
    ],
    ['the lists in figures', 'src/resolvers/gex/a.ts', 'export const at = rootsOf(context);', 'the lists of today'],
    ['the clock in a chain', 'src/resolvers/chain/chain.ts', 'export const at = context.nowMs;', 'reads the clock'],
    ['a default export', 'test/a.ts', 'export default 1;', 'exports a default'],
    ['an empty name', 'src/core/domain/string-utils.ts', 'export const a = 1;', 'says nothing'],
    ['an empty folder name', 'test/helpers/a.ts', 'export const a = 1;', 'says nothing'],
    [
      'an import between subjects that have no tie',
      'src/store/gex/a.ts',
      "import { b } from '../flow/b.ts';\nexport const a = b;",
      'store/gex may not import store/flow',
    ],
    [
      'a folder that is no subject of its room',
      'src/store/misc/a.ts',
      'export const a = 1;',
      'src/store/misc is not known',
    ],
    ['what it cannot follow', 'src/core/domain/a.ts', 'export const a = `b;', 'cannot be followed'],
  ])('fails on %s', (_, file, text, finding) => {
    const { code, findings } = check({ 'src/store/flow/b.ts': 'export const b = 1;\n', [file]: `${text}\n` });
    expect(code).toBe(1);
    expect(findings).toEqual([expect.stringMatching(new RegExp(`^${file}.*${finding}`))]);
  });

  it('lets every room import the platform, which imports none', () => {
    const delay = { 'src/platform/runtime/delay.ts': 'export const delay = 1;\n' };
    for (const file of ['src/core/domain/a.ts', 'src/store/a.ts', 'src/schema/a.ts']) {
      const up = '../'.repeat(file.split('/').length - 2);
      const text = `export { delay } from '${up}platform/runtime/delay.ts';\n`;
      expect(check({ ...delay, [file]: text })).toMatchObject({ code: 0, findings: [] });
    }
    expect(check({ 'src/platform/runtime/a.ts': "export { tick } from '../../core/domain/tick.ts';\n" })).toMatchObject(
      {
        code: 1,
        findings: [expect.stringMatching('platform may not import core')],
      },
    );
    const wire = { 'src/platform/wire/b.ts': 'export const b = 1;\n' };
    expect(check({ ...wire, 'src/platform/runtime/a.ts': "export { b } from '../wire/b.ts';\n" })).toMatchObject({
      code: 1,
      findings: [expect.stringMatching('platform/runtime may not import platform/wire')],
    });
  });

  it('lets a layer import one folder of another, where the rules say so', () => {
    const executing = {
      'src/graphql/execution/run.ts': 'export const run = 1;\n',
      'src/graphql/plugins/open.ts': 'export const open = 1;\n',
    };
    const rest = (folder: string) =>
      check({ ...executing, 'src/rest/a.ts': `import * as a from '../graphql/${folder}.ts';\nexport const b = a;\n` });
    expect(rest('execution/run')).toMatchObject({ code: 0, findings: [] });
    expect(rest('plugins/open')).toMatchObject({
      code: 1,
      findings: [expect.stringMatching('rest may not import graphql')],
    });
  });

  it('lets other rooms import public files alone, of which none is listed that they do not import', () => {
    const store = { 'src/store/sets.ts': 'export const sets = 1;\n' };
    const access = { 'src/access/a.ts': "export { sets } from '../store/sets.ts';\n" };
    // src/main.ts imports core/analytics/sum.ts.
    const list = (...files: string[]) => ({ 'scripts/public-files.txt': ['# a list', ...files, ''].join('\n') });
    const findings = (...files: string[]) => check({ ...store, ...access, ...list(...files) }).findings;
    expect(findings('core/analytics/sum.ts', 'store/sets.ts')).toEqual([]);
    expect(findings('core/analytics/sum.ts')).toEqual([
      expect.stringMatching(/^src\/access\/a\.ts:1 {2}store\/sets\.ts is private to store/),
    ]);
    expect(findings('core/analytics/sum.ts', 'store/sets.ts', 'store/rows.ts')).toEqual([
      'scripts/public-files.txt  no other room imports store/rows.ts',
    ]);
  });

  it('knows the public files of this project', () => {
    expect(readFileSync('scripts/public-files.txt', 'utf8').split('\n').length).toBeGreaterThan(100);
  });

  it('lets types alone be imported where the rules say so', () => {
    const access = { 'src/access/caller.ts': 'export type Caller = string;\n' };
    const text = "export type { Caller } from '../access/caller.ts';\n";
    expect(check({ ...access, 'src/live/a.ts': text })).toMatchObject({ code: 0, findings: [] });
    expect(check({ ...access, 'src/live/a.ts': text.replace('type ', '') }).findings).toEqual([
      expect.stringMatching(/^src\/live\/a\.ts.*live may not import access/),
    ]);
  });

  it('lets a date be made of a given instant', () => {
    expect(check({ 'src/store/a.ts': 'export const day = (ms: number) => new Date(ms);\n' }).code).toBe(0);
  });

  it('fails on rooms that import each other', () => {
    const { code, findings } = check({
      'src/server.ts': "import { go } from './cli/go.ts';\nexport const serve = go;\n",
      'src/cli/go.ts': "import { serve } from '../server.ts';\nexport const go = () => serve;\n",
    });
    expect(code).toBe(1);
    expect(findings).toContainEqual(expect.stringContaining('rooms import each other: server.ts → cli → server.ts'));
  });

  it.each(['import', 'import type'])('fails on files that import each other, one by %s', (keyword) => {
    const files = {
      'src/core/domain/a.ts': `${keyword} { b } from './b.ts';\nexport const a = 1;\n`,
      'src/core/domain/b.ts': "import { a } from './a.ts';\nexport const b = a;\n",
    };
    expect(check(files)).toMatchObject({
      code: 1,
      findings: [
        expect.stringContaining(
          'files import each other: src/core/domain/a.ts → src/core/domain/b.ts → src/core/domain/a.ts',
        ),
      ],
    });
  });

  it('fails on a folder of more than 25 files', () => {
    const files = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`src/store/flow/f${i}.ts`, 'export const a = 1;\n']));
    // A check that saw no import has not passed.
    const one = { 'src/store/a.ts': "export { a } from './flow/f0.ts';\n" };
    expect(check({ ...files(25), ...one })).toMatchObject({ code: 0, findings: [] });
    expect(check({ ...files(26), ...one })).toMatchObject({
      code: 1,
      findings: [expect.stringMatching('src/store/flow +holds 26 files')],
    });
  });

  it('lets subjects import the neighbours that they are tied to', () => {
    expect(
      check({
        'src/store/rows/a.ts': 'export const a = 1;\n',
        'src/store/flow/c.ts': "import { a } from '../rows/a.ts';\nexport const c = a;\n",
      }),
    ).toMatchObject({ code: 0, findings: [] });
  });
});
