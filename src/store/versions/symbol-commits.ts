import type { Queries } from '../rows/statement.ts';
import { statement } from '../rows/statement.ts';
import type { Change, CommitIds, Commits, Subject } from './subjects.ts';

// A commit is named by its announcement's id. The row of a symbol is written in the transaction that writes its data,
// and lies on the same node: one cannot be seen without the other.

/** The row of writes that may be of any symbol; no ticker. */
const anySymbol = '%';

const noted = statement('versions/note-commits', { symbols: 'text[]', commits: 'text[]' }, {});

/**
 * Notes in a transaction that it changes symbols; `id` names it. Call it last: others wait for these rows. The registry
 * is of no symbol, and is not noted.
 */
export async function noteCommits(tx: Queries, change: Change, id: string): Promise<void> {
  const bySymbol = new Map<string, CommitIds>();
  for (const [subject, symbols] of Object.entries(change) as [Subject, readonly string[] | null][]) {
    if (subject === 'registry') continue;
    for (const symbol of symbols ?? [anySymbol]) {
      const commits = bySymbol.get(symbol) ?? {};
      commits[subject] = id;
      bySymbol.set(symbol, commits);
    }
  }
  if (bySymbol.size === 0) return;
  const symbols = [...bySymbol.keys()].sort();
  const commits = symbols.map((symbol) => JSON.stringify(bySymbol.get(symbol)));
  await noted.count(tx, { symbols, commits });
}

const last = statement('versions/commits', { symbols: 'text[]', known: 'text[]?' }, { same: 'int4', others: 'text?' });

/** The commits of symbols that are not those of `known`, and the number of rows that are. */
async function readOthers(from: Queries, known: ReadonlyMap<string, Commits | null>) {
  const symbols = [...known.keys()];
  const texts = Array.from(known.values(), (commits) => (commits === null ? null : JSON.stringify(commits.own)));
  const rows = await last.rows(from, { symbols: [...symbols, anySymbol], known: [...texts, null] }).catch((error) => {
    // The node with the row of any symbol may be lost while those of these symbols are not.
    if (!from.routing.isSpread) throw error;
    return last.rows(from, { symbols, known: texts });
  });
  const others: Record<string, CommitIds> = {};
  for (const row of rows) if (row.others !== null) Object.assign(others, JSON.parse(row.others));
  return { others, same: rows.reduce((sum, row) => sum + row.same, 0) };
}

/**
 * The last commits of symbols where they are not those of `known`; null = they are not known. One statement, on a
 * distributed store one a symbol.
 */
export async function readCommits(
  from: Queries,
  known: ReadonlyMap<string, Commits | null>,
): Promise<Map<string, Commits>> {
  const { others, same } = await readOthers(from, known);
  const any = others[anySymbol] ?? {};
  const anyText = JSON.stringify(any);
  const found = new Map<string, Commits>();
  let withRow = 0;
  for (const [symbol, commits] of known) {
    const own = others[symbol];
    if (own === undefined && commits !== null && Object.keys(commits.own).length > 0) withRow += 1;
    if (own === undefined && commits?.anyText === anyText) continue;
    found.set(symbol, { own: own ?? commits?.own ?? {}, any, anyText });
  }
  // A standby may lack the first commit of a symbol, and the row with it.
  return same === withRow ? found : readCommits(from, new Map(Array.from(known.keys(), (symbol) => [symbol, null])));
}

const all = statement('versions/commits-of-all', { subject: 'text' }, { digest: 'text' });

/** A text that differs as soon as the subject of any symbol has been written. One statement. */
export async function readDigest(from: Queries, subject: Subject): Promise<string> {
  const [row] = await all.rows(from, { subject });
  return row!.digest;
}
