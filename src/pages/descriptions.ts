import type { Router } from 'express';
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { asyncApi } from '../rest/asyncapi.ts';
import type { CompiledRoute } from '../rest/contract/compiled-route.ts';
import { withComponents } from '../rest/contract/components.ts';
import type { JsonSchema } from '../rest/contract/json-schema.ts';
import { protocolSource } from '../rest/contract/protobuf.ts';
import { endedOn } from '../rest/contract/route.ts';
import { descriptionRouter, jsonType, textType } from '../rest/http/description.ts';
import { ownTag, tags } from '../rest/openapi/tags.ts';
import { withEnded } from '../rest/openapi.ts';
import { streamProtocolDescriptor, streamProtocolPaths, streamProtocolSource } from '../rest/socket/control.ts';
import type { StreamOperations } from '../rest/stream/stream.ts';
import { guides } from './reference/guides/guides.ts';

/** Dependencies of the descriptions. */
interface DescriptionsParts {
  schema: GraphQLSchema;
  compiled: readonly CompiledRoute[];
  /** The OpenAPI document, its schemas written out. */
  description: JsonSchema;
  streams: StreamOperations;
  /** Address for reports of vulnerabilities; null = none is published. */
  securityContact: string | null;
  /** The server's clock, epoch ms. */
  now: () => number;
}

/** Time after which a reader should read `security.txt` again, ms. */
const securityExpiryMs = 180 * 86_400_000;

/** `security.txt` by RFC 9116. */
function securityText(contact: string, nowMs: number): string {
  const expires = new Date(nowMs + securityExpiryMs).toISOString().slice(0, 10);
  return `Contact: ${contact}\nExpires: ${expires}T00:00:00Z\nPreferred-Languages: en\n`;
}

/** Descriptions of the interface for machines. */
export function descriptionsRouter(parts: DescriptionsParts): Router {
  const { schema, compiled, description, streams, securityContact, now } = parts;
  const text = (make: () => string) => ({ contentType: textType, make });
  const json = (make: () => string) => ({ contentType: jsonType, make });
  return descriptionRouter({
    '/v2/openapi.json': {
      ...json(() => JSON.stringify(withComponents(withEnded(description, compiled, now())))),
      state: () => compiled.map(({ route }) => endedOn(route, now()) ?? '').join(''),
    },
    '/v2/rest-protocol.proto': text(() => protocolSource),
    ...Object.fromEntries(streamProtocolPaths.map((path) => [path, text(() => streamProtocolSource)])),
    '/v2/ws-protocol.json': json(() => streamProtocolDescriptor),
    '/schema.graphql': text(() => `${printSchema(lexicographicSortSchema(schema))}\n`),
    '/llms.txt': text(() => llmsText(compiled)),
    '/asyncapi.json': json(() => JSON.stringify(asyncApi(schema, streams))),
    ...(securityContact !== null && {
      '/.well-known/security.txt': {
        ...text(() => securityText(securityContact, now())),
        state: () => securityText(securityContact, now()),
      },
    }),
  });
}

const link = (name: string, address: string, text: string) => `- [${name}](${address}): ${text}`;

/** The first sentence of a description. */
const firstSentence = (text: string) => /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;

function routesOf(compiled: readonly CompiledRoute[], group: string): string[] {
  return compiled
    .filter(({ route }) => route.scopeGroup === group && route.sunset === undefined)
    .map(({ route }) => link(`${route.method} ${route.path}`, `/docs#${route.name}`, route.summary));
}

/** `/llms.txt`: an index of the documentation for language models, in the form of llmstxt.org. */
function llmsText(compiled: readonly CompiledRoute[]): string {
  return [
    '# Tapegraph',
    '',
    '> Market data and analytics: quotes, bars, option chains, greeks, dealer gamma (GEX), option flow, off-exchange activity. One GraphQL graph, and REST routes that are stored operations of it.',
    '',
    'Send an API key as `Authorization: Bearer <key>`. Prices are dollars, times are epoch milliseconds (UTC), sessions are New York dates, strikes are thousandths of a dollar. null means unknown.',
    '',
    '## Descriptions for machines',
    '',
    link('GraphQL schema', '/schema.graphql', 'every type and field, with units and what null means'),
    link('OpenAPI', '/v2/openapi.json', 'every REST route and its answers'),
    link('AsyncAPI', '/asyncapi.json', 'the live streams and their messages'),
    link('Model Context Protocol', '/docs#mcp', 'the routes as tools at /mcp; estimate says what a query costs'),
    '',
    '## Guides',
    '',
    ...guides.map(({ path, title, about }) => link(title, path, about)),
    ...[...tags, ownTag].flatMap(({ name, description }) => {
      const routes = routesOf(compiled, name);
      return routes.length === 0 ? [] : ['', `## ${name}`, '', firstSentence(description), '', ...routes];
    }),
    '',
  ].join('\n');
}
