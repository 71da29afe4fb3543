import { createHash } from 'node:crypto';

/**
 * Names statements, so that PostgreSQL prepares each once per connection. Lists of varying length create new texts:
 * beyond a thousand of them statements are unnamed, or a long-lived server's memory would grow without bound.
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
