// A process of its own that uses an embedded store: node store-program.ts DATA_DIR visit|stay|write visit: opens,
// leaves a row, closes. stay: opens and closes when stdin ends. write: writes until it is killed, printing each number
// once its row is acknowledged.
import { once } from 'node:events';
import { openStore } from '../../../src/store/rows/connection.ts';
import { inTransaction } from '../../../src/store/rows/transaction.ts';

const [dataDir, mode] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

const store = await openStore({ databaseUrl: null, dataDir: dataDir!, log: (line) => say(`log ${line}`) });
const at = await store.pool.query("select current_setting('data_directory') as folder, inet_server_addr() as tcp");
say(`open ${JSON.stringify(at.rows[0])}`);

if (mode === 'visit') {
  await store.prisma.metadataEntry.create({ data: { key: `visit ${process.pid}`, value: '' } });
}
if (mode === 'stay') {
  process.stdin.resume();
  await once(process.stdin, 'end');
}
if (mode === 'write') {
  const { rows } = await store.pool.query(
    "select coalesce(max(value::int), 0)::int as last from store_facts where key like 'n%'",
  );
  for (let n = rows[0].last + 1; ; n++) {
    // Two rows a transaction: after a crash either both are there or neither.
    await inTransaction(store, async (tx) => {
      await tx.query('insert into store_facts values ($1, $2)', [`n${n}`, n]);
      await tx.query('insert into store_facts values ($1, $2)', [`m${n}`, n]);
    });
    say(`wrote ${n}`);
  }
}
await store.close();
say('closed');
