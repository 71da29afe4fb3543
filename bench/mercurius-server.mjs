// Plain JavaScript beside its declaration: its packages are installed by npm run bench alone, and the rest of the
// project is type-checked without them.
import Fastify from 'fastify';
import mercurius from 'mercurius';

export async function serveMercurius({ schema, context }) {
  const app = Fastify();
  await app.register(mercurius, { schema, jit: 1, context });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return { url, close: () => app.close() };
}
