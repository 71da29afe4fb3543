import type pg from 'pg';
import { symbolsAtOnceOfPool } from './routing.ts';

/** True if a store's tables are on one node, or may be spread over several (Citus). */
export interface Nodes {
  /** As `Reader.symbolsAtOnce` of readers that are no transaction. */
  readonly symbolsAtOnce: number;
  /** True if a commit of this process was not answered by every node: some may not have it yet. */
  inDoubt: boolean;
  /** Asks the database again: its tables may have been spread since. */
  lookAgain(): void;
}

const distributedText = `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS found`;

/** Asks the database of `pool`. */
export async function watchNodes(pool: pg.Pool): Promise<Nodes> {
  let symbolsAtOnce = 0;
  const look = async () => {
    const { rows } = await pool.query<{ found: boolean }>(distributedText);
    symbolsAtOnce = rows[0]!.found ? symbolsAtOnceOfPool : 0;
  };
  await look();
  return {
    inDoubt: false,
    get symbolsAtOnce() {
      return symbolsAtOnce;
    },
    // If it cannot be asked now, readers get an error too.
    lookAgain: () => void look().catch(() => {}),
  };
}
