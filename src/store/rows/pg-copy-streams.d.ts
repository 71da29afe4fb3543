declare module 'pg-copy-streams' {
  import type { Writable } from 'node:stream';
  import type { Submittable } from 'pg';

  /** The stream for the rows of `COPY … FROM STDIN`; `rowCount` is known once it has finished. */
  export function from(sql: string): Writable & Submittable & { rowCount: number };
}
