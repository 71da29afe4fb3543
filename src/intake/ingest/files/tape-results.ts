import type { GenerationPart } from '../../../core/domain/generation.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import type { TapeHours } from '../../../core/domain/tape-hours.ts';
import type { FileResult, TapeJob } from './file-job.ts';
import type { LeftPart, SessionChange } from './tape-report.ts';

/** Each file's part of its sessions, by path. */
export type FilesHours = ReadonlyMap<string, ReadonlyMap<SessionDate, TapeHours>>;

/** Creates a function that returns the names of the files with prints of a session. */
export function filesOfSession({ files }: TapeJob, filesHours: FilesHours): (session: SessionDate) => string[] {
  return (session) => files.filter(({ path }) => filesHours.get(path)?.has(session)).map(({ name }) => name);
}

/** Outcome of a tape, by its guard. */
interface TapeOutcome {
  sessions: readonly SessionChange[];
  left: readonly LeftPart[];
  written: readonly GenerationPart[];
}

const printsOf = (sessions: FilesHours extends ReadonlyMap<string, infer S> ? S : never) =>
  [...sessions.values()].reduce((sum, { prints }) => sum + prints, 0);

/** Results of the files if none of them is stored. */
export function unstored({ files }: TapeJob, filesHours: FilesHours): FileResult[] {
  return files.map(({ path }) => ({ rows: printsOf(filesHours.get(path) ?? new Map()), changed: 0 }));
}

/**
 * Results of the files. `changed` has the rows and blocks that changed of each session; one that several files have
 * counts for each of them, and is reported with the first.
 */
export function tapeResults(
  job: TapeJob,
  filesHours: FilesHours,
  changed: ReadonlyMap<SessionDate, number>,
  { sessions, left, written }: TapeOutcome,
): FileResult[] {
  const filesOf = filesOfSession(job, filesHours);
  return job.files.map(({ path, name }) => {
    const hours = filesHours.get(path)!;
    const parts = [...hours.keys()].filter((session) => changed.has(session)).sort();
    const isFirst = ({ session }: { session: SessionDate }) => (filesOf(session)[0] ?? job.files[0]!.name) === name;
    const here = left.filter(({ session }) => hours.has(session));
    const isKept = here.some(({ reason }) => reason === 'waiting');
    const unwritten = isKept ? 'kept' : parts.length === 0 ? here[0] : undefined;
    return {
      ...(unwritten && { unwritten }),
      isPartlyLeft: here.some(({ reason }) => reason === 'fewer'),
      rows: printsOf(hours),
      changed: parts.reduce((sum, session) => sum + changed.get(session)!, 0),
      parts,
      written: written.filter(({ from }) => hours.has(from)),
      sessions: sessions.filter(isFirst),
      left: left.filter(isFirst),
    };
  });
}
