import type { Queries } from '../rows/statement.ts';
import { statement } from '../rows/statement.ts';
import { type Change, type Commits, commitText, type Subject, subjects } from './subjects.ts';

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
  const bySymbol = new Map<string, Partial<Record<Subject, string>>>();
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

const last = statement('versions/commits', { symbols: 'text[]' }, { symbol: 'text', commits: 'text' });

/** The last commits of symbols. One statement, on a distributed store one a symbol. */
export async function readCommits(from: Queries, symbols: Iterable<string>): Promise<Map<string, Commits>> {
  const asked = [...symbols];
  // The node with the row of any symbol may be lost while those of these symbols are not.
  const rows = await last
    .rows(from, { symbols: [...asked, anySymbol] })
    .catch(() => last.rows(from, { symbols: asked }));
  const found = new Map(rows.map(({ symbol, commits }) => [symbol, JSON.parse(commits) as Partial<Commits>]));
  const any = found.get(anySymbol);
  const commitsOf = (own: Partial<Commits> | undefined) =>
    Object.fromEntries(subjects.map((subject) => [subject, commitText(own?.[subject], any?.[subject])])) as Commits;
  return new Map(asked.map((symbol) => [symbol, commitsOf(found.get(symbol))]));
}

const all = statement('versions/commits-of-all', { subject: 'text' }, { digest: 'text' });

/** A text that differs as soon as the subject of any symbol has been written. One statement. */
export async function readDigest(from: Queries, subject: Subject): Promise<string> {
  const [row] = await all.rows(from, { subject });
  return row!.digest;
}
