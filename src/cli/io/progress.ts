import type { TerminalStream } from './terminal.ts';

/** A line that shows how far a job is, redrawn in place. */
export interface Progress {
  /** `fraction` 0…1, null = unknown; `label` says what is being done. */
  update(label: string, fraction: number | null): void;
  /** Removes the line, so that what is written next starts clean. */
  done(): void;
}

const barWidth = 24;
const redrawMs = 80;
const clearLine = '\r\u001b[K';

/** One drawn line, at most `columns` characters. */
export function progressLine(label: string, fraction: number | null, columns: number): string {
  if (fraction === null) return label.slice(0, columns);
  const part = Math.min(1, Math.max(0, fraction));
  const filled = Math.round(part * barWidth);
  const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${String(Math.floor(part * 100)).padStart(3)}%`;
  return `${bar}  ${label}`.slice(0, columns);
}

/** Progress on a terminal; nothing at all on anything else. `now` in ms paces the redrawing. */
export function createProgress(stream: TerminalStream, now: () => number): Progress {
  if (!stream.isTTY) return { update: () => {}, done: () => {} };
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    update(label, fraction) {
      if (now() - drawnAt < redrawMs && fraction !== 1) return;
      drawnAt = now();
      // The last column stays free: writing it makes some terminals wrap.
      stream.write(clearLine + progressLine(label, fraction, (stream.columns || 80) - 1));
    },
    done() {
      stream.write(clearLine);
    },
  };
}
