import { toNumber } from './row-values.ts';

/** A row of a model with numbers for its BIGINTs. */
export type Numbered<Row> = {
  [Field in keyof Row]: Row[Field] extends bigint
    ? number
    : Row[Field] extends bigint | null
      ? number | null
      : Row[Field];
};

/** Converts a row's BIGINTs to numbers. Throws if a number would not be exact. */
export function numbered<Row extends object>(row: Row): Numbered<Row> {
  const copy = { ...row } as Record<string, unknown>;
  for (const field in copy) if (typeof copy[field] === 'bigint') copy[field] = toNumber(copy[field]);
  return copy as Numbered<Row>;
}
