import { createHash } from 'node:crypto';

/**
 * Names statements, so that PostgreSQL prepares each once a connection. Lists of varying length make ever new texts:
 * past a thousand of them the rest go unnamed, or a long-lived server's memory would grow without bound.
 */
export function statementNames(): (query: { sql: string }) => string {
  const names = new Map<string, string>();
  return ({ sql }) => {
    const known = names.get(sql);
    if (known !== undefined) return known;
    const name = names.size < 1000 ? createHash('sha1').update(sql).digest('base64url') : '';
    if (name !== '') names.set(sql, name);
    return name;
  };
}
