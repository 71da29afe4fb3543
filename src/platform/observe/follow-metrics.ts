import { Counter, Gauge, Registry } from 'prom-client';
import { collectNodeMetrics, type DataAges, watchDataAges } from './metrics.ts';

/** The metrics of a process that follows a tape. */
export interface FollowMetrics {
  /** Counts bytes of the tape that were taken. */
  taken(bytes: number): void;
  /** Counts a skipped line. */
  badLine(): void;
  /** Counts a record that came after its session ended. */
  late(): void;
  /** Records that the lines read so far are stored; `nowMs` is epoch ms. */
  committed(nowMs: number): void;
  text(): Promise<string>;
  contentType: string;
}

/** Creates the metrics of a follower, beside those of Node itself. */
export function createFollowMetrics(dataAges: DataAges): FollowMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectNodeMetrics(registry);
  watchDataAges(registers, dataAges);
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const bytes = counter('tapegraph_follow_bytes_total', 'Bytes of the tape received.');
  const badLines = counter('tapegraph_follow_bad_lines_total', 'Bad lines, which were skipped.');
  const late = counter(
    'tapegraph_follow_late_total',
    'Records that came after their session ended and are not stored.',
  );
  const commits = counter('tapegraph_follow_commits_total', 'Commits to the store.');
  const last = new Gauge({
    name: 'tapegraph_follow_last_commit_timestamp_seconds',
    help: 'Time of the last commit, since the epoch; 0 before the first.',
    registers,
  });
  return {
    taken: (count) => bytes.inc(count),
    badLine: () => badLines.inc(),
    late: () => late.inc(),
    committed(nowMs) {
      commits.inc();
      last.set(nowMs / 1000);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
