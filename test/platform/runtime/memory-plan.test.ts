import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  heapOptions,
  idleMemory,
  leastMemoryBytes,
  type MemoryBounds,
  planMemory,
  readByteSize,
} from '../../../src/platform/runtime/memory-plan.ts';

const mebibyte = 1024 * 1024;
const nothing: MemoryBounds = {
  settingBytes: null,
  constrainedBytes: 0,
  machineBytes: 16_384 * mebibyte,
  processes: 1,
};

test.each<[string, number | null]>([
  ['512M', 512 * mebibyte],
  ['512MiB', 512 * mebibyte],
  ['512mb', 512 * mebibyte],
  ['1.5G', 1536 * mebibyte],
  ['524288K', 512 * mebibyte],
  ['1073741824', 1024 * mebibyte],
  ['512 M', null],
  ['-1', null],
  ['half', null],
  ['', null],
])('a size reads %j as %s bytes', (text, bytes) => {
  expect(readByteSize(text)).toBe(bytes);
});

describe('the limit of a process', () => {
  test.each<[string, Partial<MemoryBounds>, string, number]>([
    ['is 512 MiB where nothing bounds it', {}, 'default', 512],
    ['is the container’s, without what starts the workers', { constrainedBytes: 1024 * mebibyte }, 'cgroup', 976],
    [
      'is the setting, also in a container',
      { settingBytes: 700 * mebibyte, constrainedBytes: 1024 * mebibyte },
      'setting',
      652,
    ],
    ['is not that of a control group without a limit', { constrainedBytes: 2 ** 64 }, 'default', 512],
    ['is an equal share among processes', { settingBytes: 3072 * mebibyte, processes: 3 }, 'setting', 1008],
    ['is never too little to start', { constrainedBytes: 100 * mebibyte }, 'cgroup', 384],
  ])('%s', (_, bounds, source, megabytes) => {
    const plan = planMemory({ ...nothing, ...bounds });
    expect(plan).toMatchObject({ source, limitBytes: megabytes * mebibyte });
  });

  test('holds heap, new objects and buffers of any size together, with room for the program itself', () => {
    fc.assert(
      fc.property(fc.integer({ min: leastMemoryBytes, max: 64 * 1024 * mebibyte }), (settingBytes) => {
        const { limitBytes, heapBytes, semiSpaceBytes, caches } = planMemory({ ...nothing, settingBytes });
        const inHeap = caches.graphqlAnswers + caches.documents + caches.blocks / 2;
        const buffers = caches.restAnswers + caches.blocks / 2;
        expect(heapBytes + 3 * semiSpaceBytes + buffers).toBeLessThanOrEqual(limitBytes - 100 * mebibyte);
        // Beside its caches a server has room for its memory at rest, and as much again for its work.
        expect(heapBytes - inHeap).toBeGreaterThanOrEqual(100 * mebibyte);
      }),
    );
  });

  test('is put to V8 in whole megabytes', () => {
    expect(heapOptions({ heapBytes: 300.7 * mebibyte, semiSpaceBytes: 8 * mebibyte })).toEqual([
      '--max-old-space-size=300',
      '--max-semi-space-size=8',
      '--heap-growing-percent=100',
      '--external-memory-accounted-in-global-limit',
      '--no-maglev-destroy-on-background',
    ]);
  });
});

describe('an idle process', () => {
  test('saves memory until it works again', () => {
    let cpu = 0;
    const flags: string[] = [];
    const idle = idleMemory({ cpuMs: () => cpu, setFlag: (flag) => flags.push(flag) });
    const looked = (ms: number) => {
      cpu += ms;
      idle.look();
      return flags.splice(0);
    };
    expect(looked(4000)).toEqual([]);
    expect(looked(499)).toEqual(['--memory-saver-mode']);
    expect(looked(10)).toEqual([]);
    expect(looked(600)).toEqual(['--no-memory-saver-mode']);
    expect(looked(5000)).toEqual([]);
    expect(looked(0)).toEqual(['--memory-saver-mode']);
  });

  test('ends it within a second of work, not at the next look', () => {
    let cpu = 0;
    const flags: string[] = [];
    const idle = idleMemory({ cpuMs: () => cpu, setFlag: (flag) => flags.push(flag) });
    const glanced = (ms: number) => {
      cpu += ms;
      idle.glance();
      return flags.splice(0);
    };
    expect(glanced(500)).toEqual([]);
    idle.look();
    idle.look();
    expect(flags.splice(0)).toEqual(['--memory-saver-mode']);
    expect(glanced(0)).toEqual([]);
    expect(glanced(199)).toEqual([]);
    expect(glanced(200)).toEqual(['--no-memory-saver-mode']);
    expect(glanced(500)).toEqual([]);
  });
});
