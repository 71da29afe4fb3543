import type { TerminalStream } from './terminal.ts';

/** A progress line, redrawn in place. */
export interface Progress {
  /** `fraction` 0…1, null = unknown; `label` names the current step. */
  update(label: string, fraction: number | null): void;
  /** Removes the line, so that later output starts on a clean line. */
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

/** Duration of a job from which the remaining time is estimated, and interval of its log lines, ms. */
const estimateFromMs = 2000;
const lineEveryMs = 10_000;

/** Estimated remaining time of a job at its pace so far, s; null while it cannot be estimated. */
function secondsLeft(elapsedMs: number, fraction: number | null): number | null {
  if (fraction === null || fraction <= 0 || elapsedMs < estimateFromMs) return null;
  return Math.ceil((elapsedMs * (1 - fraction)) / fraction / 1000);
}

/** Shows progress: a line redrawn on a terminal; elsewhere a call of `line` every ten seconds. `now` in ms. */
export function createProgress(
  stream: TerminalStream,
  now: () => number,
  line: (text: string) => void = () => {},
): Progress {
  const startedAt = now();
  let shownAt = stream.isTTY ? Number.NEGATIVE_INFINITY : startedAt;
  return {
    update(label, fraction) {
      const atMs = now();
      if (atMs - shownAt < (stream.isTTY ? redrawMs : lineEveryMs) && !(stream.isTTY && fraction === 1)) return;
      shownAt = atMs;
      const left = secondsLeft(atMs - startedAt, fraction);
      const text = left === null ? label : `${label}, ${left} s left`;
      // The last column stays free: writing to it makes some terminals wrap.
      if (stream.isTTY) stream.write(clearLine + progressLine(text, fraction, (stream.columns || 80) - 1));
      else line(fraction === null ? text : `${text} (${Math.floor(fraction * 100)}%)`);
    },
    done() {
      if (stream.isTTY) stream.write(clearLine);
    },
  };
}
