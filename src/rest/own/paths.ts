import { type Route, writtenPath } from '../contract/route.ts';
import { SettingProblem } from './problems.ts';

/** A route's method and Express path. */
export type Address = Pick<Route, 'method' | 'path' | 'name'>;

/** First segments of the addresses that are served beside the routes. */
const taken = [
  'assets',
  'dashboard',
  'docs',
  'favicon.ico',
  'graphql',
  'healthz',
  'mcp',
  'metrics',
  'readyz',
  'robots.txt',
  'llms.txt',
  'schema.graphql',
  'widgets.json',
  'apps.json',
];

/** Paths of the contract that are not in the table of routes. */
const described = [
  '/v2/openapi.json',
  '/v2/rest-protocol.proto',
  '/v2/stream-protocol.proto',
  '/v2/ws-protocol.proto',
  '/v2/ws-protocol.json',
  '/v2/stream',
  '/v2/ws',
].map((path): Address => ({ method: 'GET', path, name: path }));

const segmentsOf = (path: string) => path.slice(1).split('/');
const isParameter = (segment: string) => segment.startsWith(':');

/** True if some address fits both paths. */
function overlap(a: string, b: string): boolean {
  const [left, right] = [segmentsOf(a), segmentsOf(b)];
  if (left.length !== right.length) return false;
  return left.every((segment, i) => isParameter(segment) || isParameter(right[i]!) || segment === right[i]);
}

/** Reads the path of a route, `/desk/{symbol}/walls`, as Express has it. */
export function readPath(path: string): string {
  const segments = segmentsOf(path);
  const isValid = segments.every((segment) => /^([A-Za-z0-9][A-Za-z0-9._~-]*|\{[a-z][a-z0-9_]*\})$/.test(segment));
  if (!path.startsWith('/') || !isValid)
    throw new SettingProblem('path', `expected a path such as /own/gamma/{symbol}, got ${JSON.stringify(path)}`);
  const [first] = segments;
  if (first!.startsWith('{') || taken.includes(first!.toLowerCase()) || first!.startsWith('.'))
    throw new SettingProblem('path', `/${first} is served by the gateway itself`);
  const express = path.replace(/\{(\w+)\}/g, ':$1');
  const names = namesIn(express);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new SettingProblem('path', `{${twice}} is there twice`);
  return express;
}

/** Names of the parameters of a path. */
export const namesIn = (path: string): string[] =>
  segmentsOf(path).flatMap((segment) => (isParameter(segment) ? [segment.slice(1)] : []));

/**
 * Requires that a route answers no address of another: of the contract at any method, of the operator's at its own
 * method.
 */
export function requireFree(route: Address, contract: readonly Address[], own: readonly Address[]): void {
  const shadowed = [...contract, ...described].find(({ path }) => overlap(path, route.path));
  if (shadowed)
    throw new SettingProblem(
      'path',
      `${writtenPath(route.path)} would shadow ${writtenPath(shadowed.path)} of the contract`,
    );
  const other = own.find(
    ({ path, method }) => overlap(path, route.path) && (path !== route.path || method === route.method),
  );
  if (other)
    throw new SettingProblem(
      'path',
      `${route.method} ${writtenPath(route.path)} overlaps with ${other.method} ${writtenPath(other.path)} of ${other.name}`,
    );
}
