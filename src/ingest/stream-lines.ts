import { Redis } from 'ioredis';

// Entries asked for at a time, and how long a read waits for the first, ms.
const entriesAtOnce = 1000;
const waitMs = 1000;

/** A Redis stream, each entry one or more lines in its field `line`, read as a consumer of a group. */
export interface StreamLines {
  /** Pieces of whole lines: first what was delivered before and never acknowledged, then what is new. Ends when told to stop. */
  pieces(): AsyncGenerator<Buffer>;
  /** Acknowledges the entries of the first `count` pieces given out. */
  acknowledge(count: number): Promise<void>;
  close(): void;
}

export interface StreamLinesOptions {
  url: string;
  stream: string;
  group: string;
  consumer: string;
  stop: AbortSignal;
}

type Entries = [id: string, fields: string[]][];
type Reply = [stream: string, entries: Entries][] | null;

function linesOf(entries: Entries): Buffer {
  const lines = entries.map(([, fields]) => {
    const at = fields.findIndex((name, i) => i % 2 === 0 && name === 'line');
    // An entry without the field is a blank line, which is passed over.
    const text = at < 0 ? '' : fields[at + 1]!;
    return text.endsWith('\n') ? text : `${text}\n`;
  });
  return Buffer.from(lines.join(''));
}

/** Joins the stream's group, making both when they are not there. Throws when Redis is out of reach. */
export async function openStreamLines({
  url,
  stream,
  group,
  consumer,
  stop,
}: StreamLinesOptions): Promise<StreamLines> {
  const redis = new Redis(url, { maxRetriesPerRequest: 3 });
  // A failure is met by the command it fails.
  redis.on('error', () => {});
  const delivered: string[][] = [];
  let acknowledged = 0;
  await redis.xgroup('CREATE', stream, group, '0', 'MKSTREAM').catch((error: Error) => {
    if (!error.message.startsWith('BUSYGROUP')) {
      redis.disconnect();
      throw error;
    }
  });

  async function read(after: string): Promise<Entries> {
    const reply = (await redis.xreadgroup(
      'GROUP',
      group,
      consumer,
      'COUNT',
      entriesAtOnce,
      'BLOCK',
      waitMs,
      'STREAMS',
      stream,
      after,
    )) as Reply;
    return reply?.[0]?.[1] ?? [];
  }

  return {
    async *pieces() {
      // From 0: what this consumer was given before and did not acknowledge; when that is through, from >: what nobody was given.
      let after = '0';
      while (!stop.aborted) {
        const entries = await read(after);
        if (entries.length === 0) {
          after = '>';
          continue;
        }
        if (after !== '>') after = entries.at(-1)![0];
        delivered.push(entries.map(([id]) => id));
        yield linesOf(entries);
      }
    },
    async acknowledge(count) {
      for (; acknowledged < count; acknowledged++) await redis.xack(stream, group, ...delivered.shift()!);
    },
    close: () => redis.disconnect(),
  };
}
