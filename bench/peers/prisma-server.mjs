// Mercurius with its JIT over Pothos' Prisma plugin and row tables, as their users write it: the plugin turns a
// document's selection into the includes of a query. Reads the database's address from PGHOST and its like; sends its
// own when it is ready.
import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import { PrismaPg } from '@prisma/adapter-pg';
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { PrismaClient } from './generated/client/client.ts';
import { getDatamodel } from './generated/pothos-types.ts';

const client = new PrismaClient({ adapter: new PrismaPg({ max: 10 }, { schema: 'peer' }) });
const builder = new SchemaBuilder({
  plugins: [PrismaPlugin],
  prisma: { client, dmmf: getDatamodel(), onUnusedQuery: 'warn' },
});

const exposed = (t, type, names) => Object.fromEntries(names.map((name) => [name, t.expose(name, { type })]));

builder.prismaObject('Quote', {
  fields: (t) =>
    exposed({ expose: (name) => t.exposeFloat(name, { nullable: true }) }, 'Float', [
      'spot',
      'changePct',
      'volume',
      'officialClose',
      'price',
      'ts',
    ]),
});
builder.prismaObject('Bar', {
  fields: (t) => exposed(t, 'Float', ['tsMs', 'open', 'high', 'low', 'close', 'volume', 'vwap']),
});
builder.prismaObject('Strike', { fields: (t) => exposed(t, 'Float', ['strike', 'gex', 'callOi', 'putOi']) });
builder.prismaObject('Expiration', { fields: (t) => ({ date: t.exposeString('date') }) });
builder.prismaObject('Capture', {
  fields: (t) => ({
    ...exposed(t, 'Float', ['capturedAt', 'spot', 'netGex']),
    flipPoint: t.exposeFloat('flipPoint', { nullable: true }),
    strikes: t.relation('strikes', {
      args: { top: t.arg.int({ required: true }) },
      query: ({ top }) => ({ orderBy: { size: 'desc' }, take: top }),
    }),
  }),
});
builder.prismaObject('Symbol', {
  fields: (t) => ({
    symbol: t.exposeString('symbol'),
    quote: t.relation('quote', { nullable: true }),
    bars: t.relation('bars', {
      args: { from: t.arg.float({ required: true }), to: t.arg.float({ required: true }) },
      query: ({ from, to }) => ({ where: { tsMs: { gte: from, lt: to } }, orderBy: { tsMs: 'asc' } }),
    }),
    captures: t.relation('captures', {
      args: { last: t.arg.int({ required: true }) },
      query: ({ last }) => ({ orderBy: { capturedAt: 'desc' }, take: last }),
    }),
    expirations: t.relation('expirations', { query: { orderBy: { date: 'asc' } } }),
  }),
});
builder.queryType({
  fields: (t) => ({
    symbol: t.prismaField({
      type: 'Symbol',
      nullable: true,
      args: { symbol: t.arg.string({ required: true }) },
      resolve: (query, _root, { symbol }) => client.symbol.findUnique({ ...query, where: { symbol } }),
    }),
  }),
});

const app = Fastify();
await app.register(mercurius, { schema: builder.toSchema(), jit: 1 });
process.send(await app.listen({ port: 0, host: '127.0.0.1' }));
