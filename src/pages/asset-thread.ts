import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** What a thread reads: scripts without their types, by file, or the parts of GraphiQL, by name. */
export type AssetTask = { scripts: readonly string[] } | { graphiql: readonly GraphiqlPart[] };

/** The texts that GraphiQL's package exports. */
export type GraphiqlPart = 'js' | 'css';

/** GraphiQL's files: path below the assets → its text in the package. */
export const graphiqlParts: Readonly<Record<string, GraphiqlPart>> = {
  'graphiql/app.js': 'js',
  'graphiql/app.css': 'css',
};

type Texts = ReadonlyMap<string, Uint8Array>;

// A thread of its own: what takes the types off, and GraphiQL's package, take memory that is freed with it, and neither
// holds up the event loop.
async function readInThread(task: AssetTask): Promise<Texts> {
  const worker = new Worker(new URL('./asset-worker.ts', import.meta.url), {
    workerData: task,
    // Node calls its own stripper experimental, and says so in each thread.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  try {
    const [texts] = (await once(worker, 'message')) as [Texts];
    return texts;
  } finally {
    await worker.terminate();
  }
}

const bufferOf = (texts: Texts, name: string) => {
  const { buffer, byteOffset, byteLength } = texts.get(name)!;
  return Buffer.from(buffer, byteOffset, byteLength);
};

/**
 * Reads the TypeScript `files` when one of them is first asked for, all at once, and caches them: together they are
 * small.
 */
export function strippedScripts(files: readonly string[]): (file: string) => Promise<Buffer> {
  let texts: Promise<Texts> | null = null;
  return async (file) => {
    texts ??= readInThread({ scripts: files }).catch((error) => {
      texts = null;
      throw error;
    });
    return bufferOf(await texts, file);
  };
}

let readingGraphiql: Promise<Texts> | null = null;

/** A part of GraphiQL's package. Simultaneous requests share one read, and nothing is cached. */
export async function readGraphiqlPart(part: GraphiqlPart): Promise<Buffer> {
  readingGraphiql ??= readInThread({ graphiql: Object.values(graphiqlParts) }).finally(() => {
    readingGraphiql = null;
  });
  return bufferOf(await readingGraphiql, part);
}
