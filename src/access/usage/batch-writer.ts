/** Writes collected data every few seconds, one write at a time. */
export interface BatchWriter {
  /** Writes the collected data now. Resolves when that succeeded or failed. Never throws. */
  flush(): Promise<void>;
  /** Stops the interval and writes a last time, with up to three attempts. */
  close(): Promise<void>;
}

/** Parts of a batch writer. */
export interface BatchWriterOptions {
  /** Name for the log, and for the health of the process. */
  what: string;
  everyMs: number;
  /** Writes the queued data; false if there was none. If it throws, the data stays queued. */
  write: () => Promise<boolean>;
  /** Called with a line to log when writing begins to fail. */
  log: (line: string) => void;
  /** Called after each attempt; `error` null = written. */
  wrote: (writer: string, error: unknown) => void;
}

/** Starts the interval. */
export function startBatchWriter({ what, everyMs, write, log, wrote }: BatchWriterOptions): BatchWriter {
  let running: Promise<boolean> = Promise.resolve(true);
  let failing = false;

  async function attempt(): Promise<boolean> {
    try {
      const any = await write();
      if (any) wrote(what, null);
      failing = false;
      return true;
    } catch (error) {
      wrote(what, error);
      if (!failing) log(`warning: ${what} could not be written; retrying: ${(error as Error).message}`);
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
