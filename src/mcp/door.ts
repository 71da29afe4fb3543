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
import type { ExecutionResult, GraphQLSchema } from 'graphql';
import type { Caller } from '../access/caller.ts';
import { invalidRequest, methodNotAllowed } from '../domain/failure.ts';
import { lifetime } from '../domain/lifetime.ts';
import { bodyBytes } from '../domain/request-body.ts';
import type { JsonSchema } from '../rest/answer-schema.ts';
import { callRoute } from '../rest/call.ts';
import { asFailure, authenticatedCaller, type CompiledRoute, charge, type RestDoor } from '../rest/router.ts';
import { toolArguments } from './arguments.ts';
import { askGraph, graphqlTool } from './graphql-tool.ts';
import { type Resource, resourcesOf } from './resources.ts';
import { answered, failed, type ToolResult } from './results.ts';
import { type Tool, toolName, toolOf } from './tools.ts';

/** What the door for AI clients needs of the server. */
export interface McpDoor
  extends Pick<
    RestDoor,
    'authenticate' | 'consume' | 'count' | 'context' | 'takeInFlightPlace' | 'now' | 'report' | 'note'
  > {
  schema: GraphQLSchema;
  compiled: readonly CompiledRoute[];
  /** The OpenAPI document of the routes. */
  description: JsonSchema;
  /** Sends a document through the graph's door, under the credential of this request. */
  ask: (
    query: string,
    variables: Record<string, unknown>,
    request: Request,
    response: Response,
  ) => Promise<ExecutionResult>;
  /** Host names of pages that may call, besides those of this machine. */
  originHosts: readonly string[];
}

const instructions = `Market data and analytics: quotes, bars, option chains, greeks, dealer gamma (GEX), option flow, off-exchange activity.
Prices are dollars, instants epoch milliseconds (UTC), dates and sessions those of New York, strikes thousandths of a dollar; null means unknown.
meta says how old and how complete an answer is: plane (live, archive or registry), notes, and what was reduced for the caller's tier.
A failed call says why in error.message; not_entitled_tier and attestation_required cannot be mended by asking again.`;

/** Journal imports are the largest bodies; larger ones go to the route itself. */
const bodyMaxBytes = 1024 * 1024;

/** One HTTP request at this door. */
interface Exchange {
  request: Request;
  response: Response;
  caller: Caller;
}

/** What is the same for every request. */
interface Offered {
  tools: Tool[];
  routes: ReadonlyMap<string, CompiledRoute>;
  resources: readonly Resource[];
}

async function called(
  door: McpDoor,
  { routes }: Offered,
  { request, response, caller }: Exchange,
  { name, arguments: sent = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<ToolResult> {
  const compiled = routes.get(name);
  if (!compiled && name !== graphqlTool.name)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}.`);
  const requestLife = lifetime();
  response.once('close', requestLife.end);
  try {
    if (!compiled) return await askGraph(sent, (query, variables) => door.ask(query, variables, request, response));
    door.note(request, { cost: 1 });
    const { texts, body, maxItems } = toolArguments(compiled.route, sent);
    const answer = await callRoute(door, compiled, { caller, texts, body, onEnd: requestLife.onEnd, response });
    return answered(answer, maxItems);
  } catch (error) {
    const failure = asFailure(error);
    door.note(request, { code: failure.code });
    if (failure.status >= 500) door.report(request, failure);
    return failed(failure);
  } finally {
    requestLife.end();
  }
}

function resourceAt(resources: readonly Resource[], uri: string): Resource {
  const found = resources.find((resource) => resource.uri === uri);
  if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no resource ${uri}.`);
  return found;
}

/** The protocol's server for one request: it holds nothing between requests, so that any process may answer any of them. */
function serverFor(door: McpDoor, offered: Offered, exchange: Exchange): Server {
  const server = new Server(
    { name: 'tapegraph', title: 'Tapegraph', version: '2' },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );
  server.setRequestHandler('tools/list', () => ({ tools: offered.tools as ListToolsResult['tools'] }));
  server.setRequestHandler('tools/call', ({ params }) => called(door, offered, exchange, params));
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

async function messageOf(request: Request): Promise<unknown> {
  const bytes = await bodyBytes(request, bodyMaxBytes);
  try {
    return JSON.parse(String(bytes));
  } catch {
    throw invalidRequest('The body is not JSON.');
  }
}

const isToolCall = (message: unknown) => (message as { method?: unknown } | null)?.method === 'tools/call';

/**
 * Answers a message of either form of the protocol: one that says which revision it speaks, or one of a client that shook hands first,
 * as those of 2025 do. Both get one JSON body, so that what is found out while it is made can still stand in the headers.
 */
async function answer(make: () => Server, request: Request, response: Response, message: unknown): Promise<void> {
  if (!(await isLegacyRequest(await toWebRequest(request, message), message))) {
    await toNodeHandler(createMcpHandler(make, { legacy: 'reject' }))(request, response, message);
    return;
  }
  const server = make();
  // No generator of session ids: nothing is kept between requests.
  const transport = new NodeStreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once('close', () => void server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, message);
}

/**
 * `/mcp`: the routes as tools of the Model Context Protocol over streamable HTTP, under the credential of each request. A tool call is
 * charged as the route is; every other message as one request.
 */
export function mcpDoor(door: McpDoor): Router {
  const routes = new Map(door.compiled.map((compiled) => [toolName(compiled), compiled]));
  const offered: Offered = {
    tools: [...door.compiled.map((compiled) => toolOf(door.description, compiled)), graphqlTool],
    routes,
    resources: resourcesOf(door.schema),
  };
  const isFromHere = originValidation(['localhost', '127.0.0.1', '[::1]', ...door.originHosts]);
  const serve: RequestHandler = async (request, response) => {
    // Pages of other origins have no business here, whatever name they reach this machine by.
    if (!isFromHere(request, response)) return;
    const caller = authenticatedCaller(await door.authenticate(request), true);
    if (request.method !== 'POST') throw methodNotAllowed(request.method, ['POST']);
    const message = await messageOf(request);
    if (!isToolCall(message)) await charge(door, caller, response);
    await answer(() => serverFor(door, offered, { request, response, caller }), request, response, message);
  };
  return Router({ caseSensitive: true }).all('/mcp', serve);
}
