import type { Coverage, CoverageStatus } from '../domain/coverage.ts';
import type { Transaction } from './transaction.ts';

/** The columns of `flow_coverage`, to be selected as `c` beside what they cover. */
export const coverageColumns =
  'c.status AS coverage_status, c.complete, c.observed_from_ms, c.observed_through_ms, c.registry_version, c.standard_multiplier_assumed';

/** What `coverageColumns` selects, beside the session they belong to. */
export interface CoverageFields {
  session_date: string;
  coverage_status: CoverageStatus;
  complete: boolean;
  observed_from_ms: number;
  observed_through_ms: number;
  registry_version: number;
  standard_multiplier_assumed: boolean;
}

/** The coverage in a selected row. */
export function coverageOf(row: CoverageFields): Coverage {
  return {
    status: row.coverage_status,
    complete: row.complete,
    sessionDate: row.session_date,
    observedFromMs: row.observed_from_ms,
    observedThroughMs: row.observed_through_ms,
    registryVersion: row.registry_version,
    standardMultiplierAssumed: row.standard_multiplier_assumed,
  };
}

/** Writes what was observed of underlyings' sessions, replacing what was said of them before. One statement. */
export async function saveCoverages(tx: Transaction, coverages: ReadonlyMap<string, Coverage>): Promise<void> {
  const of = <T>(value: (coverage: Coverage) => T) => Array.from(coverages.values(), value);
  await tx.query({
    name: 'save-flow-coverage',
    text: `INSERT INTO flow_coverage (underlying, session_date, status, complete, observed_from_ms, observed_through_ms,
       registry_version, standard_multiplier_assumed)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bool[], $5::bigint[], $6::bigint[], $7::int[], $8::bool[])
     ON CONFLICT (underlying, session_date) DO UPDATE SET status = excluded.status, complete = excluded.complete,
       observed_from_ms = excluded.observed_from_ms, observed_through_ms = excluded.observed_through_ms,
       registry_version = excluded.registry_version, standard_multiplier_assumed = excluded.standard_multiplier_assumed`,
    values: [
      [...coverages.keys()],
      of(({ sessionDate }) => sessionDate),
      of(({ status }) => status),
      of(({ complete }) => complete),
      of(({ observedFromMs }) => observedFromMs),
      of(({ observedThroughMs }) => observedThroughMs),
      of(({ registryVersion }) => registryVersion),
      of(({ standardMultiplierAssumed }) => standardMultiplierAssumed),
    ],
  });
}
