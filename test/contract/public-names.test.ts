import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { type TestApp, testApp } from '../support/app.ts';
import { routesWithoutTool } from './known-routes.ts';

// Generated clients call operations by these names, and agents tools by the same with `_` for `-`: a name that was
// published stays. routes.txt is what was published; npm run check holds it.
const published = readFileSync('routes.txt', 'utf8')
  .split('\n\n')[0]!
  .split('\n')
  .map((line) => line.split(/ +/)[2]!);

async function app(): Promise<TestApp> {
  const served = await testApp();
  onTestFinished(() => served.close());
  return served;
}

test('every route has the operationId that it was published with', async () => {
  const { url } = await app();
  const { paths } = (await (await fetch(new URL('/v2/openapi.json', url))).json()) as {
    paths: Record<string, Record<string, { operationId?: string }>>;
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const names = operations.flatMap(({ operationId }) => operationId ?? []);
  const protocols = [
    'rest-protocol',
    'stream-protocol',
    'ws-protocol',
    'ws-protocol-json',
    'asyncapi',
    'schema',
    'llms',
  ];
  const publicPaths = ['health', 'readiness', 'openapi', ...protocols];
  expect(names.sort()).toEqual([...published, 'stream', 'ws', ...publicPaths].sort());
});

test('every route is the MCP tool that it was published as', async () => {
  const served = await app();
  const client = new Client({ name: 'test', version: '1' });
  // A key is offered only the tools that it can use.
  const headers = { authorization: `Bearer ${await served.session()}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', served.url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  const offered = published.filter((name) => !routesWithoutTool.has(name)).map((name) => name.replaceAll('-', '_'));
  expect(names.sort()).toEqual([...offered, 'estimate', 'graphql'].sort());
});
