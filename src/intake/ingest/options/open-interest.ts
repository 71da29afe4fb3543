import { basename } from 'node:path';
import { sessionPart } from '../../../core/domain/generation.ts';
import { problemOfSession } from '../../../core/domain/instant-gate.ts';
import { epochDay, isDate, type SessionDate } from '../../../core/domain/market-time.ts';
import {
  lockOpenInterest,
  type OpenInterest,
  type OpenInterestRun,
  saveOpenInterest,
} from '../../../store/chain/open-interest.ts';
import { readRoots } from '../../../store/market/option-roots.ts';
import { rejectSealed } from '../../../store/market/session-seals.ts';
import { openInterestList } from '../../tape/chains/open-interest.ts';
import { readCsv } from '../../tape/csv/csv.ts';
import { TapeFileError } from '../../tape/csv/tape-file.ts';
import { joinInterest } from '../chains/joined-interest.ts';
import { DisplacedLines } from '../files/bad-line-log.ts';
import type { FileJob, IngestSettings, Loader } from '../files/file-job.ts';
import { saveUnderlyings } from '../files/option-underlyings.ts';

const batchRows = 100_000;

/**
 * The session of a file without sessions in its lines: the setting, else a date in its name (`2014-06-06.csv.gz`,
 * `oi_20140606.csv`), else null.
 */
export function sessionOfFile(path: string, settings: IngestSettings): SessionDate | null {
  if (settings.sessionDate !== null) return settings.sessionDate;
  const [, year, month, day] = /(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)/.exec(basename(path)) ?? [];
  const date = `${year}-${month}-${day}`;
  return isDate(date) ? date : null;
}

/** Joins written sessions, each with its underlying, with their stored chains. */
async function joinWritten({ tx, settings, onNote }: FileJob, written: ReadonlySet<string>): Promise<void> {
  const sessions = Array.from(written, (key) => ({ sessionDate: key.slice(0, 10), underlying: key.slice(11) }));
  const joined = await joinInterest(tx, sessions, settings.rate);
  if (joined > 0)
    onNote(`the open interest of ${joined} stored ${joined === 1 ? 'chain' : 'chains'} is from this file`);
}

/** `problemOfSession` for the dates of a file, of which there are few. */
function sessionProblems(nowMs: number): (date: SessionDate) => string | null {
  const known = new Map<SessionDate, string | null>();
  return (date) => {
    if (!known.has(date)) known.set(date, problemOfSession(date, nowMs));
    return known.get(date)!;
  };
}

/** The session of a file's lines without one. Throws `TapeFileError` for an implausible one. */
function knownSession({ path, settings }: FileJob, problemOf: (date: SessionDate) => string | null) {
  const session = sessionOfFile(path, settings);
  const problem = session && problemOf(session);
  if (problem) throw new TapeFileError(path, `the session of the file: ${problem}`);
  return session;
}

function requireSession({ path }: FileJob, session: SessionDate | null): SessionDate {
  if (session !== null) return session;
  throw new TapeFileError(
    path,
    'the session is unknown: give it in a column session_date, in the file name, or with --session',
  );
}

/** The figures of a file by contract, for counting lines that others displace. */
class ReadFigures {
  readonly #byRoot = new Map<string, Map<number, number>>();
  readonly displaced = new DisplacedLines('with the same contract: the last counts');

  add(sessionDate: SessionDate, { root, expiry, right, strike, openInterest }: OpenInterest): void {
    const key = `${sessionDate} ${root}`;
    let figures = this.#byRoot.get(key);
    if (figures === undefined) {
      figures = new Map();
      this.#byRoot.set(key, figures);
    }
    // A strike has eight digits.
    const contract = (epochDay(expiry) * 2 + Number(right === 'put')) * 1e8 + strike;
    const before = figures.get(contract);
    if (before !== undefined) this.displaced.add(before === openInterest);
    figures.set(contract, openInterest);
  }
}

/** Adds a contract's figure to the run of its underlying and session. */
function addRow(batch: Map<string, OpenInterestRun>, run: Omit<OpenInterestRun, 'rows'>, row: OpenInterest): void {
  const key = `${run.sessionDate} ${run.underlying}`;
  const known = batch.get(key);
  if (known) known.rows.push(row);
  else batch.set(key, { ...run, rows: [row] });
}

/** Loads open interest of every listed contract, by underlying and session. */
export const loadOpenInterest: Loader = async (job) => {
  await lockOpenInterest(job.tx);
  const problemOf = sessionProblems(job.now());
  const sessionOfAll = knownSession(job, problemOf);
  let batch = new Map<string, OpenInterestRun>();
  let held = 0;
  const written = new Set<string>();
  const known = await readRoots(job.tx);
  const figures = new ReadFigures();
  let rows = 0;
  let changed = 0;
  const flush = async () => {
    if (held === 0 || job.refused()) return;
    const runs = [...batch.values()];
    for (const { sessionDate, underlying } of runs) written.add(`${sessionDate} ${underlying}`);
    await rejectSealed(
      job.tx,
      runs.map(({ underlying: symbol, sessionDate }) => ({ symbol, sessionDate })),
    );
    await saveUnderlyings(job.tx, new Set(runs.flatMap((run) => run.rows.map((row) => row.root))), known);
    changed += await saveOpenInterest(job.tx, runs);
    batch = new Map();
    held = 0;
  };
  for await (const { records, lineNumbers } of readCsv(job.path, [openInterestList], job.onBadLine, job.onBytes)) {
    if (job.refused()) continue;
    for (const [i, { sessionDate: own, ...row }] of records.entries()) {
      const problem = own && problemOf(own);
      if (problem) {
        job.onBadLine({ file: job.path, line: lineNumbers[i]!, reason: `session_date: ${problem}` });
        continue;
      }
      const sessionDate = requireSession(job, own ?? sessionOfAll);
      const underlying = known.of(row.root, sessionDate).underlying;
      held++;
      rows++;
      figures.add(sessionDate, row);
      addRow(batch, { underlying, sessionDate }, row);
    }
    if (held >= batchRows) await flush();
  }
  await flush();
  for (const note of figures.displaced.notes()) job.onNote(note);
  if (changed > 0) await joinWritten(job, written);
  const parts = Array.from(written, (key) => sessionPart(key.slice(11), key.slice(0, 10)));
  return { rows, changed, parts: [...new Set(parts.map(({ from }) => from))], written: changed > 0 ? parts : [] };
};
