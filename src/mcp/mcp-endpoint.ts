import {
  NodeStreamableHTTPServerTransport,
  originValidation,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { bodyRequests } from '../access/limits/body-points.ts';
import { yieldForBytes } from '../platform/runtime/event-loop.ts';
import { Failure, invalidParameter, methodNotAllowed } from '../platform/wire/failure.ts';
import { clipped } from '../platform/wire/printed-value.ts';
import type { CompiledRoute } from '../rest/contract/compiled-route.ts';
import { asFailure } from '../rest/http/router.ts';
import { builtInTools, smallTools } from './built-in-tools.ts';
import { called, type Exchange, type McpParts, type Offered } from './calls.ts';
import { Catalog } from './catalog.ts';
import { mostMessages, receiveMessages, rejectMessages, withNamedParams } from './message.ts';
import { completionOf, listedPrompts, promptText } from './prompts.ts';
import { type Resource, resourcesOf } from './resources.ts';
import { commonParameters, isOffered, toolName, toolOf } from './tools.ts';

/** Instructions for every client. `operations`: what it calls the operations that have parameters. */
const instructions = (
  operations: string,
) => `Market data and analytics: quotes, bars, option chains, greeks, dealer gamma (GEX), option flow, off-exchange activity.
Prices are dollars, times are epoch milliseconds (UTC), dates and sessions are New York dates, strikes are thousandths of a dollar. null means unknown.
meta reports how current and complete an answer is: plane (live, archive or registry), notes, and what was reduced for the caller's tier.
A failed call gives the reason in error.message. Do not retry not_entitled_tier and attestation_required.
Parameters of most ${operations}: ${commonParameters}`;

/** Use of the few tools. */
const smallInstructions =
  'Search finds operations, fields and documentation by words, describe says all about one of them, and run runs an operation. graphql reads any fields of several symbols in one call, and estimate says what that costs.';

function resourceAt(resources: readonly Resource[], uri: string): Resource {
  const found = resources.find((resource) => resource.uri === uri);
  if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource ${clipped(uri, 100)}.`);
  return found;
}

/** Creates the protocol's server for one request. It is stateless, so that any process may answer any request. */
function serverFor(parts: McpParts, offered: Offered, exchange: Exchange): Server {
  const server = new Server(
    { name: 'tapegraph', title: 'Tapegraph', version: '2' },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
      instructions: offered.small ? `${smallInstructions}\n${instructions('operations')}` : instructions('tools'),
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: offered.tools.filter(({ name }) => {
      const compiled = offered.routes.get(name);
      return !compiled || isOffered(compiled.route, exchange.caller, parts.services.now());
    }) as ListToolsResult['tools'],
  }));
  server.setRequestHandler('tools/call', ({ params }) => called(parts, offered, exchange, params));
  server.setRequestHandler('prompts/list', () => ({
    prompts: listedPrompts.map((prompt) => ({ ...prompt, arguments: [...prompt.arguments] })),
  }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    promptText(params.name, params.arguments ?? {}, offered.small ? 'small' : 'all'),
  );
  server.setRequestHandler('completion/complete', async ({ params }) =>
    completionOf(params.argument, (await parts.services.registry()).registered()),
  );
  server.setRequestHandler('resources/list', () => ({
    resources: offered.resources.map(({ text: _, ...resource }) => resource),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }) => {
    const { uri, mimeType, text } = resourceAt(offered.resources, params.uri);
    return { contents: [{ uri, mimeType, text: text() }] };
  });
  return server;
}

/**
 * Answers a message of either form of the protocol: one that names its revision, or one of a client that shook hands
 * first, as in 2025. Both get one JSON body, so that headers can be set until it is complete.
 */
async function answer(make: () => Server, request: Request, response: Response, message: unknown): Promise<void> {
  if (!(await isLegacyRequest(await toWebRequest(request, message), message))) {
    await toNodeHandler(createMcpHandler(make, { legacy: 'reject' }))(request, response, message);
    return;
  }
  const server = make();
  // No generator of session ids: the endpoint is stateless.
  const transport = new NodeStreamableHTTPServerTransport({ enableJsonResponse: true });
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(withNamedParams(message), options);
  response.once('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, message);
}

/** Offers to clients by mode. */
function offersOf({ compiled, description, services }: McpParts): Record<'all' | 'small', Offered> {
  const byName = (routes: readonly CompiledRoute[]) => new Map(routes.map((each) => [toolName(each), each]));
  const resources = resourcesOf(services.schema, description);
  const ofTools = compiled.filter(({ route }) => !route.withoutTool);
  const tools = [...ofTools.map((each) => toolOf(description, each)), ...builtInTools];
  const run = compiled.filter(({ route }) => route.withoutTool !== 'in any mode');
  const small = { catalog: new Catalog(services, run, description), operations: byName(run) };
  return {
    all: { tools, routes: byName(ofTools), resources, small: null },
    small: { tools: smallTools, routes: new Map(), resources, small },
  };
}

/** The mode that a client has chosen by the address. Throws 400 for an unknown one. */
function modeOf({ query: { tools = 'all' } }: Request): 'all' | 'small' {
  if (tools !== 'all' && tools !== 'small') throw invalidParameter('tools', 'expected all or small');
  return tools;
}

/**
 * `/mcp`: the routes as tools of the Model Context Protocol over streamable HTTP, under the credential of each request.
 * A tool call is charged as the route is; every other message of a request as one.
 */
export function mcpRouter(parts: McpParts): Router {
  const offers = offersOf(parts);
  const isFromHere = originValidation(['localhost', '127.0.0.1', '[::1]', ...parts.originHosts]);
  const serve: RequestHandler = async (request, response) => {
    // Pages of other origins are rejected, whatever name they use for this machine.
    if (!isFromHere(request, response)) return;
    const caller = await parts.services.admission.identify(request);
    if (request.method !== 'POST') throw methodNotAllowed(request.method, ['POST']);
    const offered = offers[modeOf(request)];
    let large = 0;
    const received = await receiveMessages(request, caller.accountId, (size) => {
      large = bodyRequests(size);
    }).catch(asFailure);
    if (received instanceof Failure) {
      await parts.services.admission.chargeRejected(request, response, 1 + large);
      parts.services.note(request, { code: received.code });
      rejectMessages(response, received);
      return;
    }
    const { messages, size } = received;
    const cost = received.cost + large;
    // Each call listens for the end of the answer.
    response.setMaxListeners(10 + 5 * mostMessages);
    if (cost > 0) await parts.services.admission.charge(caller, request, response, cost);
    await yieldForBytes(size.bytes);
    const exchange = { request, response, caller, bytes: size.bytes, messages };
    await answer(() => serverFor(parts, offered, exchange), request, response, messages.message);
  };
  return Router({ caseSensitive: true }).all('/mcp', serve);
}
