/** Writes what was gathered every few seconds, one write at a time. */
export interface Flusher {
  /** Writes what is gathered now; after that, or after it failed, resolves. Never throws. */
  flush(): Promise<void>;
  /** Ends the rhythm and writes a last time, trying up to three times. */
  close(): Promise<void>;
}

/** Starts the rhythm. `write` throws when it failed and keeps what it could not write; `log` hears of it when it begins. */
export function startFlusher(
  what: string,
  everyMs: number,
  write: () => Promise<void>,
  log: (line: string) => void,
): Flusher {
  let running: Promise<boolean> = Promise.resolve(true);
  let failing = false;

  async function attempt(): Promise<boolean> {
    try {
      await write();
      failing = false;
      return true;
    } catch (error) {
      if (!failing) log(`warning: ${what} could not be written and will be tried again: ${(error as Error).message}`);
      failing = true;
      return false;
    }
  }
  function next(): Promise<boolean> {
    running = running.then(attempt);
    return running;
  }
  const timer = setInterval(() => void next(), everyMs);
  timer.unref();

  return {
    flush: async () => {
      await next();
    },
    async close() {
      clearInterval(timer);
      for (let tries = 0; tries < 3; tries += 1) if (await next()) return;
      log(`warning: ${what} of the last seconds are lost`);
    },
  };
}
