// Prints as JSON what others read in Parquet files: `duckdb SQL` the rows of a query, `polars FILE` columns and rows.
import { DuckDBInstance } from '@duckdb/node-api';
import polars from 'nodejs-polars';

const [reader, what] = process.argv.slice(2);
const plain = (_key, value) => (typeof value === 'bigint' ? Number(value) : value);

async function byDuckDb(sql) {
  const connection = await (await DuckDBInstance.create()).connect();
  return (await connection.runAndReadAll(sql)).getRowObjects();
}

function byPolars(file) {
  const frame = polars.readParquet(file);
  const columns = Object.fromEntries(frame.columns.map((name) => [name, frame.getColumn(name).dtype.variant]));
  return { columns, rows: frame.toRecords() };
}

console.log(JSON.stringify(reader === 'duckdb' ? await byDuckDb(what) : byPolars(what), plain));
