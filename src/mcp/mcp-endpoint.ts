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
import type { ExecutionResult } from 'graphql';
import type { Caller } from '../access/caller.ts';
import type { EndpointServices } from '../access/endpoint-services.ts';
import { bodyRequests } from '../access/limits/body-points.ts';
import { readTicker } from '../domain/market/ticker.ts';
import { requestLife } from '../http/request-life.ts';
import type { JsonSchema } from '../rest/contract/json-schema.ts';
import { callRoute } from '../rest/http/call.ts';
import { answerAt, asFailure, type CompiledRoute } from '../rest/http/router.ts';
import { yieldForBytes } from '../runtime/event-loop.ts';
import { Failure, methodNotAllowed } from '../wire/failure.ts';
import { clipped } from '../wire/printed-value.ts';
import { toolArguments } from './arguments.ts';
import { type EstimatedOperation, estimateGraph, estimateTool } from './estimate-tool.ts';
import { askGraph, graphqlTool } from './graphql-tool.ts';
import { withNamedParams } from './invalid-params.ts';
import type { LightMessages } from './light-message.ts';
import { mostMessages, receiveMessages, rejectMessages } from './message.ts';
import { type Resource, resourcesOf } from './resources.ts';
import { answered, failed, type ToolResult } from './results.ts';
import { commonParameters, isOffered, type Tool, toolName, toolOf } from './tools.ts';

/** Dependencies of the endpoint for AI clients, beside those of every endpoint. */
export interface McpParts {
  services: EndpointServices;
  compiled: readonly CompiledRoute[];
  /** The OpenAPI document of the routes. */
  description: JsonSchema;
  /** Sends a document to the graph, with the credential of this request. */
  ask: (
    query: string,
    variables: Record<string, unknown>,
    request: Request,
    response: Response,
  ) => Promise<ExecutionResult>;
  /** Estimates a document for the graph, without running it. */
  estimate: (request: Request, response: Response, operation: EstimatedOperation) => Promise<object>;
  /** Host names of pages that may call, besides those of this machine. */
  originHosts: readonly string[];
}

const instructions = `Market data and analytics: quotes, bars, option chains, greeks, dealer gamma (GEX), option flow, off-exchange activity.
Prices are dollars, times are epoch milliseconds (UTC), dates and sessions are New York dates, strikes are thousandths of a dollar. null means unknown.
meta reports how current and complete an answer is: plane (live, archive or registry), notes, and what was reduced for the caller's tier.
A failed call gives the reason in error.message. Do not retry not_entitled_tier and attestation_required.
Parameters of most tools: ${commonParameters}`;

/** One HTTP request. */
interface Exchange {
  request: Request;
  response: Response;
  caller: Caller;
  /** Bytes of its body. */
  bytes: number;
  messages: LightMessages;
}

/** Parts shared by all requests. */
interface Offered {
  tools: readonly Tool[];
  routes: ReadonlyMap<string, CompiledRoute>;
  resources: readonly Resource[];
}

/**
 * Price around which to select the strikes of an answer, dollars, for the symbol that a tool was called with; null =
 * unknown.
 */
async function spotNear(
  { services }: McpParts,
  { routes }: Offered,
  caller: Caller,
  onEnd: (undo: () => void) => void,
  texts: Readonly<Record<string, string>>,
): Promise<number | null> {
  const { route, operation } = routes.get('spot')!;
  const symbol = readTicker(texts.symbol ?? texts.underlying ?? '');
  if (symbol === null) return null;
  const variables = { symbol, protobuf: false };
  const result = await operation.run('values', services.context(caller, onEnd), variables).catch(() => null);
  return result && (answerAt(result, route.answer).data as { price: number | null }).price;
}

async function called(
  parts: McpParts,
  offered: Offered,
  { request, response, caller, bytes, messages }: Exchange,
  { name, arguments: read = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<ToolResult> {
  const { services, ask, estimate } = parts;
  const compiled = offered.routes.get(name);
  const sent = messages.argumentsOf(read);
  await yieldForBytes(bytes);
  const overRate = () => services.admission.charge(caller, request, response).then(() => null, asFailure);
  if (!compiled && name !== graphqlTool.name && name !== estimateTool.name) {
    const over = await overRate();
    if (over) return failed(over);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${clipped(name, 100)}.`);
  }
  const life = requestLife(response);
  let charges = false;
  try {
    if (name === estimateTool.name) {
      return await estimateGraph(sent, (operation) => {
        charges = true;
        return estimate(request, response, operation);
      });
    }
    if (!compiled) {
      return await askGraph(sent, (query, variables) => {
        charges = true;
        return ask(query, variables, request, response);
      });
    }
    const { texts, body, maxItems } = toolArguments(compiled.route, sent);
    charges = true;
    const answer = await callRoute(services, compiled, { caller, texts, body, onEnd: life.onEnd, request, response });
    return await answered(answer, maxItems, () => spotNear(parts, offered, caller, life.onEnd, texts));
  } catch (error) {
    // A call with invalid arguments is charged like any request.
    const over = charges ? null : await overRate();
    const failure = over ?? asFailure(error);
    services.note(request, { code: failure.code });
    if (failure.status >= 500) services.report(request, failure);
    return failed(failure);
  } finally {
    life.end();
  }
}

function resourceAt(resources: readonly Resource[], uri: string): Resource {
  const found = resources.find((resource) => resource.uri === uri);
  if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource ${clipped(uri, 100)}.`);
  return found;
}

/** Creates the protocol's server for one request. It is stateless, so that any process may answer any request. */
function serverFor(parts: McpParts, offered: Offered, exchange: Exchange): Server {
  const server = new Server(
    { name: 'tapegraph', title: 'Tapegraph', version: '2' },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: offered.tools.filter(({ name }) => {
      const compiled = offered.routes.get(name);
      return !compiled || isOffered(compiled.route, exchange.caller);
    }) as ListToolsResult['tools'],
  }));
  server.setRequestHandler('tools/call', ({ params }) => called(parts, offered, exchange, params));
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

/**
 * `/mcp`: the routes as tools of the Model Context Protocol over streamable HTTP, under the credential of each request.
 * A tool call is charged as the route is; every other message of a request as one.
 */
export function mcpRouter(parts: McpParts): Router {
  const compiledTools = parts.compiled.filter(({ route }) => !route.withoutTool);
  const routes = new Map(compiledTools.map((compiled) => [toolName(compiled), compiled]));
  const offered: Offered = {
    tools: [...compiledTools.map((compiled) => toolOf(parts.description, compiled)), graphqlTool, estimateTool],
    routes,
    resources: resourcesOf(parts.services.schema, parts.description),
  };
  const isFromHere = originValidation(['localhost', '127.0.0.1', '[::1]', ...parts.originHosts]);
  const serve: RequestHandler = async (request, response) => {
    // Pages of other origins are rejected, whatever name they use for this machine.
    if (!isFromHere(request, response)) return;
    const caller = await parts.services.admission.identify(request);
    if (request.method !== 'POST') throw methodNotAllowed(request.method, ['POST']);
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
