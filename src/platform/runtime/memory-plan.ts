const mebibyte = 1024 * 1024;

/** Source of the limit of a process's memory: the setting, the container or service it runs in, or neither. */
export type MemorySource = 'setting' | 'cgroup' | 'default';

/** Division of a process's memory, bytes. */
export interface MemoryPlan {
  source: MemorySource;
  /** Limit of its resident memory. */
  limitBytes: number;
  /** Limit of long-lived objects: V8 ends the process beyond it. */
  heapBytes: number;
  /** One half of the space for new objects. V8 can hold three halves. */
  semiSpaceBytes: number;
  /** Maximum size of each cache. */
  caches: CacheBudgets;
}

/** Maximum size of each cache, bytes. */
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

/** Minimum memory of a process. */
export const leastMemoryBytes = 384 * mebibyte;

/**
 * Limit without a setting or a container's limit. Nothing then ends a process that uses more, so its heap may grow
 * beyond.
 */
const defaultLimitBytes = 512 * mebibyte;
const defaultHeapBytes = 640 * mebibyte;

/** Memory of the process that starts the workers, which it does not share with them. */
const supervisorBytes = 48 * mebibyte;

/** Memory outside JavaScript objects: the program itself, compiled code, WebAssembly, buffers in transit, threads. */
const outsideHeapBytes = 120 * mebibyte;

const units: Record<string, number> = { '': 1, K: 1024, M: mebibyte, G: 1024 * mebibyte };

/** Parses a size such as `512M`, `1.5G` or a number of bytes; null for other text. */
export function readByteSize(text: string): number | null {
  const match = /^(\d{1,15}(?:\.\d{1,3})?)([KMG]?)(?:i?B)?$/i.exec(text.trim());
  return match && Math.floor(Number(match[1]) * units[match[2]!.toUpperCase()]!);
}

/** Inputs of a process's memory plan. */
export interface MemoryBounds {
  /** MEMORY_LIMIT, for all processes of a server together; null = not set. */
  settingBytes: number | null;
  /** The control group's limit (`process.constrainedMemory()`); 0, or more than the machine has: none. */
  constrainedBytes: number;
  /** The machine's memory. */
  machineBytes: number;
  /** Processes that share the limit, besides the one that starts them: the workers, and a spare. */
  processes: number;
}

function limitOf({ settingBytes, constrainedBytes, machineBytes, processes }: MemoryBounds) {
  const share = (bytes: number) => Math.max(leastMemoryBytes, Math.floor((bytes - supervisorBytes) / processes));
  if (settingBytes !== null) return { source: 'setting', limitBytes: share(settingBytes) } as const;
  if (constrainedBytes > 0 && constrainedBytes < machineBytes)
    return { source: 'cgroup', limitBytes: share(constrainedBytes) } as const;
  return { source: 'default', limitBytes: defaultLimitBytes } as const;
}

/** Divides a process's memory. All figures follow from the limit, so that one setting changes them together. */
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
 * Node's options for a command that reads whole files. Its objects are short-lived; V8's default space for them takes
 * 95 MiB more for a tape of 5 million prints, and as much CPU.
 */
export const fileReaderOptions = ['--max-semi-space-size=16'];

/** The plan of a process without a limit. */
export const defaultMemory = planMemory({
  settingBytes: null,
  constrainedBytes: 0,
  machineBytes: Number.POSITIVE_INFINITY,
  processes: 1,
});

/**
 * Growth of the heap before a collection, in percent of live memory. V8's default is about 70 under heavy allocation;
 * it then collects twice a second beside large answers: each collection blocks every request for 10 to 25 ms, and takes
 * a quarter of a core.
 */
const growthPercent = 100;

/**
 * Counts buffers as part of live memory, which may grow by as much. By default V8 collects after every 64 MB of new
 * buffers, so beside large answers twice as often.
 */
const countBuffers = '--external-memory-accounted-in-global-limit';

/**
 * Frees the compiler's memory immediately. By default V8 does this in a thread that does not run while other functions
 * wait to be compiled: a document of many fields left 130 MB until then.
 */
const freeCompilations = '--no-maglev-destroy-on-background';

/** The V8 options that hold a process to its plan. */
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

/** Interval at which a process looks at whether it is idle, ms. */
export const idleLookMs = 5000;
/** Share of a core below which it is. */
const idleShare = 0.1;
/** Interval at which an idle process looks at whether it works again, ms, and from what share of a core it does. */
export const idleGlanceMs = 500;
const workingShare = 0.4;

/**
 * Lets V8 return memory while a process is idle; call `look` every `idleLookMs`, `glance` every `idleGlanceMs`. V8's
 * own reducer waits for a low rate of allocation, which it does not find in a process that allocates nothing: after a
 * siege the pages of the heap stayed for as long as the process was left alone. In its saving mode it collects in
 * steps, and returns them. Under load that mode takes an eighth more CPU, so that the first requests after a pause
 * leave it.
 */
export function idleMemory({ cpuMs, setFlag }: { cpuMs: () => number; setFlag: (flag: string) => void }) {
  let before = cpuMs();
  let glanced = before;
  let saves = false;
  const save = (isIdle: boolean) => {
    if (isIdle === saves) return;
    saves = isIdle;
    setFlag(isIdle ? '--memory-saver-mode' : '--no-memory-saver-mode');
  };
  return {
    look(): void {
      const now = cpuMs();
      save(now - before < idleShare * idleLookMs);
      before = now;
    },
    glance(): void {
      const now = cpuMs();
      if (now - glanced >= workingShare * idleGlanceMs) save(false);
      glanced = now;
    },
  };
}
