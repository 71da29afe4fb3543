import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgress, progressLine } from '../../../src/cli/io/progress.ts';
import type { TerminalStream } from '../../../src/cli/io/terminal.ts';

function stream(isTTY: boolean): TerminalStream & { written(): string } {
  const through = new PassThrough();
  return Object.assign(through, { isTTY, columns: 60, written: () => String(through.read() ?? '') });
}

describe('progress', () => {
  it('writes nothing where there is no terminal', () => {
    const file = stream(false);
    const progress = createProgress(file, () => 0);
    progress.update('bars.csv', 0.5);
    progress.done();
    expect(file.written()).toBe('');
  });

  it('is a line of the log every ten seconds where there is no terminal, with the seconds left', () => {
    const lines: string[] = [];
    let now = 0;
    const progress = createProgress(
      stream(false),
      () => now,
      (line) => lines.push(line),
    );
    for (now = 1000; now <= 25_000; now += 1000) progress.update('history', now / 40_000);
    expect(lines).toEqual(['history, 30 s left (25%)', 'history, 20 s left (50%)']);
  });

  it('draws one line in place on a terminal and takes it away at the end', () => {
    const terminal = stream(true);
    let now = 0;
    const progress = createProgress(terminal, () => now);
    progress.update('bars.csv', 0.5);
    progress.update('bars.csv', 0.51);
    now = 1000;
    progress.update('bars.csv', 0.75);
    progress.done();
    const written = terminal.written();
    expect(written).not.toContain('\n');
    expect(written).toMatch(/ 50% {2}bars.csv.* 75% {2}bars.csv/s);
    expect(written).not.toContain('51%');
    expect(written.endsWith('\r\u001b[K')).toBe(true);
  });

  it('fits the line into the terminal and survives fractions out of range', () => {
    expect(progressLine('a'.repeat(200), 2, 60)).toHaveLength(60);
    expect(progressLine('x', -1, 60)).toContain('  0%');
    expect(progressLine('reading', null, 60)).toBe('reading');
  });
});
