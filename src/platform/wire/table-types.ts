/** Media types of tables. */
export const tableTypes = {
  csv: 'text/csv',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/jsonl',
} as const;

/** The other name that clients have for lines of JSON. */
export const jsonLines = 'application/x-ndjson';

/** True if a table in a media type has a line of JSON per row. */
export const isJsonLines = (media: string) => media === tableTypes.ndjson || media === jsonLines;

/** All media types that a client can request a table in. */
export const requestableTables: readonly string[] = [...Object.values(tableTypes), jsonLines];
