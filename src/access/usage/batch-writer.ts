/** Writes what was gathered every few seconds, one write at a time. */
export interface BatchWriter {
  /** Writes what is gathered now; after that, or after it failed, resolves. Never throws. */
  flush(): Promise<void>;
  /** Ends the rhythm and writes a last time, trying up to three times. */
  close(): Promise<void>;
}

/** Parts that a batch writer is made from. */
export interface BatchWriterOptions {
  /** For the log, and the health of the process. */
  what: string;
  everyMs: number;
  /** Throws if it fails, with the unwritten data still queued; whether there was anything to write. */
  write: () => Promise<boolean>;
  /** Gets a line when writing begins to fail. */
  log: (line: string) => void;
  /** Called after each attempt; `error` null = it was written. */
  wrote: (writer: string, error: unknown) => void;
}

/** Starts the rhythm. */
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
