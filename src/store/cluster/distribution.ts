import { keptModels, supersededTable } from '../rows/models/kept-models.ts';
import { tableOf } from '../rows/models/model-tables.ts';

/**
 * Placement of a table's rows on a distributed PostgreSQL (Citus): spread by a column, copied to every node, or on the
 * first node only. Citus does not manage writes to the last, except `known` ones, which pass through it.
 */
export type TablePlacement = { by: string } | 'everywhere' | 'first node' | 'first node, known';

const bySymbol: TablePlacement = { by: 'symbol' };
const byUnderlying: TablePlacement = { by: 'underlying' };

/**
 * The placement of every table. What is large is spread by the symbol, or the underlying of its contracts: all of one
 * is on one node, and what is joined is joined there. Data of an account is small, and its rows are locked; the order
 * of the feed (`flow_feed`) is one sequence.
 */
const placements = {
  bar_blocks: bySymbol,
  generations: bySymbol,
  live_quotes: bySymbol,
  off_exchange_composition: bySymbol,
  off_exchange_concentration: bySymbol,
  off_exchange_profile: bySymbol,
  off_exchange_sessions: bySymbol,
  symbol_commits: bySymbol,
  tape_remainders: bySymbol,
  tape_sessions: bySymbol,
  volatility_days: bySymbol,
  chain_captures: byUnderlying,
  contract_minute_blocks: byUnderlying,
  cross_sections: byUnderlying,
  flow_coverage: byUnderlying,
  flow_events: byUnderlying,
  flow_legs: byUnderlying,
  gex_captures: byUnderlying,
  greeks_minutes: byUnderlying,
  greeks_places: byUnderlying,
  open_interest_blocks: byUnderlying,
  option_bar_blocks: byUnderlying,
  option_quote_blocks: byUnderlying,
  // An underlying, or * for the list over all.
  ranked_prints: { by: 'scope' },
  ranked_sessions: { by: 'scope' },
  dividends: 'everywhere',
  option_roots: 'everywhere',
  rates: 'everywhere',
  session_seals: 'everywhere',
  splits: 'everywhere',
  symbols: 'everywhere',
  accounts: 'first node',
  api_keys: 'first node',
  flow_feed: 'first node',
  followed_lines: 'first node',
  generation_runs: 'first node',
  ingested_files: 'first node',
  journal_accounts: 'first node',
  journal_imports: 'first node',
  journal_sizes: 'first node',
  journal_trades: 'first node',
  saved_screens: 'first node',
  session_origins: 'first node',
  // A write to it makes a commit two-phase (`Cluster.beforeCommit`).
  store_facts: 'first node, known',
  stream_tickets: 'first node',
  usage_counts: 'first node',
  watchlists: 'first node',
} as const satisfies Record<string, TablePlacement>;

/** The tables of replaced rows, by the tables that the rows were in. */
const twins: Readonly<Record<string, string>> = Object.fromEntries(
  keptModels.map((model) => [tableOf(model).table, supersededTable(model)]),
);

/** Every table's, with those of replaced rows, which are where the rows were. */
export const tablePlacements: Readonly<Record<string, TablePlacement>> = {
  ...placements,
  ...Object.fromEntries(
    Object.entries(twins).map(([table, twin]) => [twin, placements[table as keyof typeof placements]]),
  ),
};

/** A placement that Citus is to know of. */
export type KnownPlacement = Exclude<TablePlacement, 'first node'>;

/** Every table that Citus is to know of. */
export const knownTables: readonly { table: string; place: KnownPlacement }[] = Object.entries(tablePlacements).flatMap(
  ([table, place]) => (place === 'first node' ? [] : [{ table, place }]),
);

/** The statement that places a table; a distributed one beside another, or null for the first. */
export function placingSql(table: string, place: KnownPlacement, beside: string | null): string {
  if (place === 'everywhere') return `SELECT create_reference_table('${table}');`;
  if (place === 'first node, known') return `SELECT citus_add_local_table_to_metadata('${table}');`;
  const colocated = beside === null ? '' : `, colocate_with => '${beside}'`;
  return `SELECT create_distributed_table('${table}', '${place.by}'${colocated});`;
}

/** The statements that distribute every table, for a database with the extension `citus` and its nodes added. */
export function distributionSql(): string[] {
  const spread = knownTables.filter(({ place }) => typeof place === 'object');
  const first = spread[0]!.table;
  const of = (wanted: KnownPlacement) => knownTables.filter(({ place }) => place === wanted);
  return [...of('everywhere'), ...spread, ...of('first node, known')].map(({ table, place }) =>
    placingSql(table, place, table === first ? null : first),
  );
}
