/** The clock by which replays are paced. */
export interface Pace {
  /** Milliseconds since any instant. */
  now(): number;
  /** Runs `work` after this many ms, unless the returned function is called before. */
  later(ms: number, work: () => void): () => void;
}

/** Longest time that a timer takes, ms. */
const longestMs = 60_000;

/** The system's clock, which is never set back, and its timers, which keep no process alive. */
export const systemPace: Pace = {
  now: () => performance.now(),
  later(ms, work) {
    const timer = setTimeout(work, Math.min(Math.ceil(ms), longestMs)).unref();
    return () => clearTimeout(timer);
  },
};
