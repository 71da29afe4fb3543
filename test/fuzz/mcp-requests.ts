import type { FuzzRequest, Grammar } from './request.ts';
import type { Schema } from './rest-requests.ts';
import { hostileBody, hostileJson, hostileText, meaningOf, plausible } from './values.ts';

/** A tool as `tools/list` tells of it. */
export interface McpTool {
  name: string;
  inputSchema: { properties?: Readonly<Record<string, Schema>>; required?: readonly string[] };
}

const resources = [
  'tapegraph://schema.graphql',
  'tapegraph://methodology.md',
  'file:///etc/passwd',
  'http://127.0.0.1/',
  '',
];

function argumentsOf(
  { random, today }: Grammar,
  { inputSchema: { properties = {}, required = [] } }: McpTool,
): unknown {
  if (random.once(15)) return hostileJson(random);
  const kept = Object.entries(properties).filter(([name]) =>
    required.includes(name) ? !random.once(30) : random.once(3),
  );
  const value = (name: string, { enum: values, type }: Schema) => {
    if (random.once(8)) return hostileJson(random);
    if (values) return random.pick(values);
    if (name === 'query')
      return random.pick([
        '{ me { tier } }',
        '{ quotes(symbols: ["SPY"]) { rows { spot } } }',
        'subscription { quotes(symbols: ["SPY"]) { spot } }',
        '{',
        hostileText(random),
      ]);
    if (type === 'integer' || type === 'number') return random.pick([1, 2, 40, 500, 501, 0, -1, 2 ** 53]);
    if (type === 'boolean') return random.once(2);
    if (type === 'object') return random.once(2) ? {} : { name: 'x', symbols: ['SPY'] };
    return plausible(random, meaningOf(name), today);
  };
  return Object.fromEntries(kept.map(([name, schema]) => [name, value(name, schema)]));
}

function message(grammar: Grammar, tools: readonly McpTool[]): unknown {
  const { random } = grammar;
  const id = random.once(10) ? hostileJson(random, 1) : random.below(1000);
  const base = { jsonrpc: random.once(30) ? hostileJson(random, 1) : '2.0', ...(random.once(12) ? {} : { id }) };
  const tool = random.pick(tools);
  const messages: (() => object)[] = [
    ...Array.from({ length: 6 }, () => () => ({
      ...base,
      method: 'tools/call',
      params: { name: random.once(20) ? hostileText(random) : tool.name, arguments: argumentsOf(grammar, tool) },
    })),
    () => ({ ...base, method: 'tools/list', params: random.once(2) ? {} : hostileJson(random, 2) }),
    () => ({ ...base, method: 'resources/read', params: { uri: random.pick([...resources, hostileText(random)]) } }),
    () => ({
      ...base,
      method: random.pick(['resources/list', 'resources/templates/list', 'prompts/list', 'ping', 'logging/setLevel']),
    }),
    () => ({
      ...base,
      method: 'initialize',
      params: {
        protocolVersion: random.pick(['2025-06-18', '2024-11-05', 'x', hostileText(random)]),
        capabilities: {},
        clientInfo: { name: 'fuzz', version: '1' },
      },
    }),
    () => ({
      jsonrpc: '2.0',
      method: random.pick(['notifications/initialized', 'notifications/cancelled', hostileText(random)]),
    }),
    () => ({ ...base, method: hostileText(random), params: hostileJson(random) }),
  ];
  return random.pick(messages)();
}

/** A request of `/mcp`: a JSON-RPC message or a batch of them, right or wrong. */
export function mcpRequest(grammar: Grammar, tools: readonly McpTool[]): FuzzRequest {
  const { random } = grammar;
  const sent = random.once(20)
    ? Array.from({ length: random.pick([0, 1, 3, 200]) }, () => message(grammar, tools))
    : message(grammar, tools);
  return {
    kind: 'mcp',
    method: random.once(30) ? random.pick(['GET', 'DELETE', 'PUT']) : 'POST',
    path: '/mcp',
    headers: {
      'content-type': 'application/json',
      ...(random.once(20) ? {} : { accept: 'application/json, text/event-stream' }),
      ...(random.once(4) ? { 'mcp-protocol-version': random.pick(['2025-06-18', '2025-11-25', 'x']) } : {}),
    },
    credential: null,
    body: random.once(20) ? hostileBody(random) : Buffer.from(JSON.stringify(sent)),
    about: null,
  };
}
