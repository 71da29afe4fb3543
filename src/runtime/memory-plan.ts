const mebibyte = 1024 * 1024;

/** Where the limit of a process's memory comes from: the setting, the container or service it runs in, or neither. */
export type MemorySource = 'setting' | 'cgroup' | 'default';

/** Division of a process's memory, bytes. */
export interface MemoryPlan {
  source: MemorySource;
  /** Bound of its resident memory. */
  limitBytes: number;
  /** V8 ends the process when objects that live long take more. */
  heapBytes: number;
  /** One half of the space for new objects. V8 can hold three halves. */
  semiSpaceBytes: number;
  /** The most that each cache holds. */
  caches: CacheBudgets;
}

/** The most that each cache holds, bytes. */
export interface CacheBudgets {
  /** Decoded blocks of the store. */
  blocks: number;
  /** Answers of the graph. */
  graphqlAnswers: number;
  /** Answers of REST routes. */
  restAnswers: number;
  /** Parsed, validated and compiled GraphQL documents. */
  documents: number;
}

/** The least that a process can work with. */
export const leastMemoryBytes = 384 * mebibyte;

/**
 * Without a setting or a container's limit. Nothing then ends a process that takes more, so that its heap may grow
 * beyond.
 */
const defaultLimitBytes = 512 * mebibyte;
const defaultHeapBytes = 640 * mebibyte;

/** The process that starts the workers: what it does not share with them. */
const supervisorBytes = 48 * mebibyte;

/** Memory of no JavaScript object: the program itself, compiled code, WebAssembly, buffers on their way, threads. */
const outsideHeapBytes = 120 * mebibyte;

const units: Record<string, number> = { '': 1, K: 1024, M: mebibyte, G: 1024 * mebibyte };

/** Reads a size such as `512M`, `1.5G` or a number of bytes; null for other text. */
export function readByteSize(text: string): number | null {
  const match = /^(\d{1,15}(?:\.\d{1,3})?)([KMG]?)(?:i?B)?$/i.exec(text.trim());
  return match && Math.floor(Number(match[1]) * units[match[2]!.toUpperCase()]!);
}

/** Facts that decide over a process's memory. */
export interface MemoryBounds {
  /** MEMORY_LIMIT, for all processes of a server together; null = not set. */
  settingBytes: number | null;
  /** The control group's limit (`process.constrainedMemory()`); 0, or more than the machine has: none. */
  constrainedBytes: number;
  /** The machine's memory. */
  machineBytes: number;
  /** Processes that share the limit, beside the one that starts them: the workers, and a spare. */
  processes: number;
}

function limitOf({ settingBytes, constrainedBytes, machineBytes, processes }: MemoryBounds) {
  const share = (bytes: number) => Math.max(leastMemoryBytes, Math.floor((bytes - supervisorBytes) / processes));
  if (settingBytes !== null) return { source: 'setting', limitBytes: share(settingBytes) } as const;
  if (constrainedBytes > 0 && constrainedBytes < machineBytes)
    return { source: 'cgroup', limitBytes: share(constrainedBytes) } as const;
  return { source: 'default', limitBytes: defaultLimitBytes } as const;
}

/** Shares out a process's memory. All figures follow from the limit, so that one setting moves them together. */
export function planMemory(bounds: MemoryBounds): MemoryPlan {
  const { source, limitBytes } = limitOf(bounds);
  const caches = {
    blocks: limitBytes / 8,
    graphqlAnswers: limitBytes / 16,
    restAnswers: limitBytes / 16,
    documents: limitBytes / 32,
  };
  const megabytes = limitBytes / mebibyte;
  const semiSpaceBytes = (megabytes >= 960 ? 32 : megabytes >= 448 ? 16 : 8) * mebibyte;
  // Blocks are half columns, half objects; REST's answers are bytes.
  const buffers = caches.restAnswers + caches.blocks / 2;
  const heapBytes =
    source === 'default' ? defaultHeapBytes : limitBytes - outsideHeapBytes - 3 * semiSpaceBytes - buffers;
  return { source, limitBytes, heapBytes, semiSpaceBytes, caches };
}

/**
 * Node's options for a command that reads whole files. What it makes is soon garbage; V8's own space for that takes 95
 * MiB more for a tape of 5 million prints, and as much CPU.
 */
export const fileReaderOptions = ['--max-semi-space-size=16'];

/** The plan of a process that nothing bounds. */
export const defaultMemory = planMemory({
  settingBytes: null,
  constrainedBytes: 0,
  machineBytes: Number.POSITIVE_INFINITY,
  processes: 1,
});

/**
 * Growth of the heap, in percent of what is alive, before it is collected. V8 by itself takes about 70 when much is
 * allocated, and then collects twice a second beside large answers: each time takes 10 to 25 ms, which everybody waits,
 * and a quarter of a core.
 */
const growthPercent = 100;

/**
 * Buffers count as what they are: a part of all that is alive, which may grow by as much. V8 by itself collects
 * whenever 64 MB of them have been made since the last time, so beside large answers twice as often.
 */
const countBuffers = '--external-memory-accounted-in-global-limit';

/**
 * Frees what the compiler leaves at once. By default V8 does this in a thread that does not run while other functions
 * wait to be compiled: a document of many fields left 130 MB until then.
 */
const freeCompilations = '--no-maglev-destroy-on-background';

/** The options of V8 that hold a process to its plan. */
export function heapOptions({ heapBytes, semiSpaceBytes }: Pick<MemoryPlan, 'heapBytes' | 'semiSpaceBytes'>): string[] {
  const megabytes = (bytes: number) => Math.floor(bytes / mebibyte);
  return [
    `--max-old-space-size=${megabytes(heapBytes)}`,
    `--max-semi-space-size=${megabytes(semiSpaceBytes)}`,
    `--heap-growing-percent=${growthPercent}`,
    countBuffers,
    freeCompilations,
  ];
}
