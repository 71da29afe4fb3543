// PostGraphile over row tables and three functions, as its users write it. Reads the database's address from
// PGHOST and its like; sends its own when it is ready.
import { once } from 'node:events';
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const pgl = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ pool: new pg.Pool({ max: 10 }), schemas: ['peer'] })],
  schema: { defaultBehavior: '-connection +list' },
  grafserv: { watch: false, graphiql: false },
  grafast: { explain: false },
});
const server = createServer();
const serv = pgl.createServ(grafserv);
await serv.addTo(server);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send(`http://127.0.0.1:${server.address().port}`);
