import { expect, test } from 'vitest';
import { folder as shapes } from '../../rest/own/folder.ts';
import { writtenFolder } from '../../rest/own/written-folder.ts';
import { tapegraph } from '../command-line.ts';

test('routes check lists the routes of a folder, without a store', async () => {
  const { code, stdout } = await tapegraph(['routes', 'check', writtenFolder(shapes), '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).routes).toContainEqual({
    name: 'gamma-day',
    method: 'GET',
    path: '/desk/{symbol}/gamma',
    tier: 'free',
    groups: ['analytics.gex'],
    stream: false,
  });
});

test('routes check reports every problem with its line, and exits with 1', async () => {
  const folder = writtenFolder({ 'a.graphql': '{\n  nothing\n}', 'b.graphql': '{ __typename', 'b.json': '{"pth": 1}' });
  const { code, stderr } = await tapegraph(['routes', 'check', folder]);
  expect([code, stderr]).toEqual([
    1,
    'tapegraph: a.graphql:2: Cannot query field "nothing" on type "Query".\nb.json:1: pth: is not a setting of a route\n',
  ]);
});
