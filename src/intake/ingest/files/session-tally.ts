import type { Dataset } from '../../../core/domain/dataset.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { filesOfSession } from '../../../store/market/ingested-files.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import type { LeftPart, LeftReason, PartUnit, SessionChange } from './tape-report.ts';

/** Subject of a tally. */
export interface TallyOf {
  dataset: Dataset;
  unit: PartUnit;
  /** Names of the files being stored that have data of a session. */
  filesOf(session: SessionDate): string[];
  /** The command that stores the left parts of a session, from these files and the source files of the stored data. */
  command(session: SessionDate, files: readonly string[], storedFrom: readonly string[]): string;
}

/** Changes of sessions by files, and parts that were not stored. */
export interface SessionTally {
  /** Adds counts of a session's changed symbols before and after; `before`: null = data that `unit` does not count. */
  changed(session: SessionDate, of: Pick<SessionChange, 'symbols' | 'before' | 'after'>): void;
  /** Counts a part that is not stored; `stored`: the stored count, null = data that `unit` does not count. */
  left(session: SessionDate, reason: LeftReason, of: LeftCounts): void;
  /** The totals by session, with the source files of stored data, and the command that stores the rest. */
  done(): Promise<{ sessions: SessionChange[]; left: LeftPart[] }>;
}

/** A part that is not stored, in counts of the unit. */
export interface LeftCounts extends Pick<LeftPart, 'count' | 'stored' | 'missing'> {
  symbol: string;
}

const bySession = (a: { session: SessionDate }, b: { session: SessionDate }) => (a.session < b.session ? -1 : 1);

/** Creates an empty tally. */
export function sessionTally(tx: Transaction, { dataset, unit, filesOf, command }: TallyOf): SessionTally {
  const changes = new Map<SessionDate, SessionChange>();
  const sums = new Map<string, { sum: LeftPart; symbols: Set<string> }>();

  return {
    changed(session, { symbols, before, after }) {
      const change = changes.get(session) ?? { session, unit, symbols: 0, before: 0, after: 0 };
      changes.set(session, change);
      change.symbols += symbols;
      change.after += after;
      change.before = before === null || change.before === null ? null : change.before + before;
    },
    left(session, reason, { symbol, count, stored, missing }) {
      const key = `${session} ${reason} ${stored === null}`;
      const known = sums.get(key);
      const { sum, symbols } = known ?? {
        sum: {
          session,
          unit,
          reason,
          count: 0,
          symbols: 0,
          stored: stored === null ? null : 0,
          missing: 0,
          storedFrom: [],
          command: null,
        },
        symbols: new Set(),
      };
      if (!known) sums.set(key, { sum, symbols });
      sum.symbols = symbols.add(symbol).size;
      sum.count += count;
      sum.missing += missing;
      if (stored !== null) sum.stored! += stored;
    },
    async done() {
      const left = [...sums.values()].map(({ sum }) => sum).sort(bySession);
      for (const sum of left) {
        if (sum.reason === 'waiting') continue;
        if (sum.stored !== null) sum.storedFrom = await filesOfSession(tx, dataset, sum.session);
        if (sum.reason === 'fewer') sum.command = command(sum.session, filesOf(sum.session), sum.storedFrom);
      }
      return { sessions: [...changes.values()].sort(bySession), left };
    },
  };
}

/** One change of a keyed item, such as a contract. */
interface KeyedChange {
  session: SessionDate;
  symbol: string;
  key: string;
  before: number;
  after: number;
}

/** Counts changes for a tally; a key may have several, in sequence. */
export function keyedChanges({ changed }: SessionTally): (change: KeyedChange) => void {
  const counts = new Map<string, number>();
  const symbolsOf = new Map<SessionDate, Set<string>>();
  return ({ session, symbol, key, before, after }) => {
    const known = counts.get(`${session} ${key}`);
    counts.set(`${session} ${key}`, after);
    const symbols = symbolsOf.get(session) ?? new Set();
    symbolsOf.set(session, symbols);
    changed(session, {
      symbols: symbols.has(symbol) ? 0 : 1,
      before: known === undefined ? before : 0,
      after: after - (known ?? 0),
    });
    symbols.add(symbol);
  };
}

/** Result of a file of bars or quotes, with its tally: `unwritten` if all its parts were left. */
export async function talliedResult<R extends { changed: number }>(result: R, tally: SessionTally) {
  const { sessions, left } = await tally.done();
  const [first] = left;
  return { ...result, sessions, left, ...(result.changed === 0 && first && { unwritten: first }) };
}

/** A tally of one file, whose left parts are stored by `--replace`. */
export function fileTally(tx: Transaction, dataset: Dataset, unit: PartUnit, name: string): SessionTally {
  const command = () => `ingest ${dataset} --replace ${name}`;
  return sessionTally(tx, { dataset, unit, filesOf: () => [name], command });
}
