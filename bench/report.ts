import type { LoadResult } from './load.ts';
import { median } from './statistics.ts';

/** One line of the report. */
export interface Row {
  what: string;
  against: string;
  ours: LoadResult;
  theirs: LoadResult;
  /** Our requests a second over theirs, median of the rounds. */
  ratio: number;
}

const rounds = 3;

/** Runs both alternately, several times, since machines are noisy; the ratio is the result. */
export async function compare(
  what: string,
  run: { ours: () => Promise<LoadResult>; theirs: () => Promise<LoadResult> },
  against: string,
): Promise<Row> {
  const ours: LoadResult[] = [];
  const theirs: LoadResult[] = [];
  for (let round = 0; round <= rounds; round++) {
    const [mine, other] = [await run.ours(), await run.theirs()];
    if (round === 0) continue; // warms both up
    ours.push(mine);
    theirs.push(other);
  }
  const ratio = median(ours.map((mine, i) => mine.requestsPerSecond / theirs[i]!.requestsPerSecond));
  const row = { what, against, ours: middle(ours), theirs: middle(theirs), ratio };
  print(row);
  return row;
}

function middle(results: LoadResult[]): LoadResult {
  return results.sort((a, b) => a.requestsPerSecond - b.requestsPerSecond)[Math.floor(results.length / 2)]!;
}

function print({ what, against, ours, theirs, ratio }: Row): void {
  const line = (r: LoadResult) =>
    `${r.requestsPerSecond.toFixed(0)}/s p50 ${r.p50Ms.toFixed(2)} ms p99 ${r.p99Ms.toFixed(2)} ms ${(r.bytes / 1024).toFixed(0)} KiB`;
  console.log(`${what}: ${ratio.toFixed(2)}× ${against}\n    ours   ${line(ours)}\n    theirs ${line(theirs)}`);
}
