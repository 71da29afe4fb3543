import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { reaches, type Tier } from '../../src/platform/config/tiers.ts';
import type { Language } from './generate.ts';
import { restOperations } from './rest-requests.ts';

/** A credential that requests are sent with. */
export interface FuzzCredential {
  text: string;
  /** The tier it reads by; null = none: expired, revoked, never given out. */
  tier: Tier | null;
  attested: boolean;
}

/** A running gateway, as the fuzzer knows it. */
export interface Target {
  url: string;
  /** By name. */
  credentials: Readonly<Record<string, FuzzCredential>>;
  language: Language;
  /** Requirements of each registered symbol. */
  registry: ReadonlyMap<string, { minTier: Tier; requiresAttestation: boolean }>;
}

/** A symbol in the registry's answer, with the fields used here. */
interface RegisteredSymbol {
  symbol: string;
  min_tier: Tier;
  requires_attestation: boolean;
}

async function json<T>(url: string, init?: RequestInit): Promise<T> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${(await response.text()).slice(0, 200)}`);
  return (await response.json()) as T;
}

/**
 * Reads what a gateway says of itself: routes, tools, registry. `credentials` must hold one that may. `heavy`: see
 * `Language`.
 */
export async function describeTarget(
  url: string,
  credentials: Target['credentials'],
  today: string,
  heavy: boolean,
): Promise<Target> {
  const reader = Object.values(credentials).find(({ tier }) => tier !== null);
  if (!reader) throw new Error('a key or a session is needed to learn what the gateway offers');
  const headers = {
    authorization: `Bearer ${reader.text}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  const [document, registry, tools] = await Promise.all([
    json<Parameters<typeof restOperations>[0]>(`${url}/v2/openapi.json`),
    json<{ data: RegisteredSymbol[] }>(`${url}/v2/symbols`, { headers }),
    json<{ result: { tools: Language['tools'] } }>(`${url}/mcp`, { method: 'POST', headers, body: list }),
  ]);
  return {
    url,
    credentials,
    language: {
      schema: buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8')),
      operations: restOperations(document),
      tools: tools.result.tools,
      credentials: Object.keys(credentials),
      today,
      heavy,
    },
    registry: new Map(
      registry.data.map((entry) => [
        entry.symbol,
        { minTier: entry.min_tier, requiresAttestation: entry.requires_attestation },
      ]),
    ),
  };
}

/** True if a credential may read a symbol's market data; anyone may read symbols outside the registry. */
export function mayRead({ registry, credentials }: Target, name: string | null, symbol: string): boolean {
  const needs = registry.get(symbol);
  if (!needs) return true;
  const credential = name === null ? undefined : credentials[name];
  if (!credential || credential.tier === null) return false;
  return reaches(credential.tier, needs.minTier) && (credential.attested || !needs.requiresAttestation);
}
