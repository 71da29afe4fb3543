import pg from 'pg';
import { vi } from 'vitest';

/** Every statement sent while `work` runs, by any connection and by pool, client or Prisma. */
export async function allStatements(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text: string; values?: unknown[] }];
    const { text, values = [] } = typeof statement === 'string' ? { text: statement } : statement;
    // A lock is identified by its key.
    sent.push(/advisory/.test(text) ? `${text} -- ${values[0]}` : text);
    return query.apply(this, args);
  } as never);
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return sent;
}

/**
 * The SQL that `work` sends. Periodic statements are omitted: writes of usage and last uses of keys, reloads of caller
 * and registry, probes of a listening connection. BEGIN and the like, and notifications of changes, do not count
 * either.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  return (await allStatements(work)).filter(
    (text) => !/usage[_-]|api_keys|accounts|store_facts|^\s*(begin|commit|rollback)\b|pg_notify|^select 1$/i.test(text),
  );
}

/** Statements but those that read which commits a symbol had last: how many there are depends on what is known. */
export function withoutCommits(sent: readonly string[]): string[] {
  return sent.filter((text) => !text.includes('symbol_commits'));
}
