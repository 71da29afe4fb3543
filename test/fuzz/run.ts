import { requestOf } from './generate.ts';
import { wrongWith } from './oracle.ts';
import { curlOf, type FuzzRequest, type RequestKind } from './request.ts';
import { type Came, openSender, type Sender } from './send.ts';
import type { Target } from './target.ts';

/** A way in which answers were wrong. */
export interface Finding {
  what: string;
  /** The first request that was answered so. */
  index: number;
  curl: string;
  /** Number of requests with this finding. */
  times: number;
}

/** Result of a run. */
export interface FuzzReport {
  sent: number;
  /** Number of answers by kind: endpoint, status, code. */
  answers: Map<string, number>;
  findings: Finding[];
  /** Milliseconds of every answer, of raw bytes excepted. */
  latencies: Float64Array;
  worst: { ms: number; index: number };
  /** Requests whose answers took longer than `slowMs`. */
  slow: number[];
}

/** Settings of a run. */
export interface FuzzOptions {
  seed: number;
  /** Index of the first request. */
  first?: number;
  count: number;
  /** Kinds of generated requests that are sent; all unless given. */
  kinds?: readonly RequestKind[];
  /** Requests at a time. */
  concurrency: number;
  /** No answer within this long is a finding. */
  patienceMs: number;
  slowMs: number;
  /** Kinds of findings after which the run ends. */
  mostFindings: number;
  /** Called now and then, with the number of requests sent. */
  onProgress?: (sent: number) => void;
}

function kindOf({ kind }: FuzzRequest, came: Came | null): string {
  if (came === null) return `${kind} left by the client`;
  const code = /"code":\s*"?([\w-]+)/.exec(came.text.slice(0, 20_000))?.[1];
  return `${kind} ${came.status || 'no answer'}${code && !/^\d/.test(code) ? ` ${code}` : ''}`;
}

// Two findings are the same but for what the request made of them: numbers, ids, quoted texts.
const signature = (what: string) => what.slice(0, 160).replace(/[\w-]{20,}|\d{4,}|"(?:[^"\\]|\\.)*"/g, '…');

/** Collects what is found, one entry for each kind of it. */
function findingBook(target: Target) {
  const bySignature = new Map<string, Finding>();
  return {
    bySignature,
    add(what: string, request: FuzzRequest, index: number) {
      const key = signature(what);
      const known = bySignature.get(key);
      if (known) known.times += 1;
      else bySignature.set(key, { what, index, curl: curlOf(target.url, request).slice(0, 4000), times: 1 });
    },
  };
}

/** Sends one request and says what is wrong with its answer. */
export async function judged(
  target: Target,
  sender: Sender,
  request: FuzzRequest,
): Promise<{ came: Came | null; wrong: string | null }> {
  try {
    const came = await sender.send(request);
    return { came, wrong: came && wrongWith(target, request, came) };
  } catch (error) {
    return { came: null, wrong: String(error) };
  }
}

/** Sends `count` generated requests and judges every answer. Ends early when too much is wrong. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzReport> {
  const { seed, first = 0, count, concurrency, patienceMs, slowMs, mostFindings, onProgress, kinds } = options;
  const sender = openSender(target, concurrency, patienceMs);
  const found = findingBook(target);
  const report: FuzzReport = {
    sent: 0,
    answers: new Map(),
    findings: [],
    latencies: new Float64Array(count),
    worst: { ms: 0, index: 0 },
    slow: [],
  };
  const note = (index: number, request: FuzzRequest, came: Came | null) => {
    const kind = kindOf(request, came);
    report.answers.set(kind, (report.answers.get(kind) ?? 0) + 1);
    if (!came) return;
    report.latencies[index - first] = came.ms;
    if (came.ms > report.worst.ms) report.worst = { ms: came.ms, index };
    if (came.ms > slowMs) report.slow.push(index);
  };
  const client = async () => {
    while (report.sent < count && found.bySignature.size < mostFindings) {
      const index = first + report.sent++;
      if (report.sent % 1000 === 0) onProgress?.(report.sent);
      const request = requestOf(target.language, seed, index);
      if (kinds && !kinds.includes(request.kind)) continue;
      const { came, wrong } = await judged(target, sender, request);
      note(index, request, came);
      if (wrong) found.add(wrong, request, index);
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, client));
  } finally {
    sender.close();
  }
  return { ...report, findings: [...found.bySignature.values()] };
}
