import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Request, Response } from 'express';
import type { ExecutionResult } from 'graphql';
import type { Caller } from '../access/caller.ts';
import type { EndpointServices } from '../access/endpoint-services.ts';
import { readTicker } from '../core/domain/market/ticker.ts';
import { requestLife } from '../platform/http/request-life.ts';
import { yieldForBytes } from '../platform/runtime/event-loop.ts';
import { invalidParameter } from '../platform/wire/failure.ts';
import { clipped, numberText, shownValue } from '../platform/wire/printed-value.ts';
import { answerAt, type CompiledRoute } from '../rest/contract/compiled-route.ts';
import type { JsonSchema } from '../rest/contract/json-schema.ts';
import type { Route } from '../rest/contract/route.ts';
import { callRoute } from '../rest/http/call.ts';
import { asFailure } from '../rest/http/router.ts';
import {
  askGraph,
  changeTool,
  describedName,
  describeTool,
  type EstimatedOperation,
  estimateGraph,
  estimateTool,
  graphqlTool,
  runArguments,
  runTool,
  searchArguments,
  searchTool,
} from './built-in-tools.ts';
import type { Catalog } from './catalog.ts';
import type { LightMessages } from './message.ts';
import type { Resource } from './resources.ts';
import { answered, failed, type ToolResult } from './results.ts';
import { listItems, type Tool } from './tools.ts';

/** A tool's arguments in the form that its route takes. */
interface ToolArguments {
  texts: Record<string, string>;
  body: Buffer | null;
  maxItems: number;
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean') return String(value);
  // Models send arrays for lists, even if the schema asks for a string.
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',');
  throw invalidParameter(name, 'expected text, a number, or true or false');
}

function maxItemsOf(value: unknown): number {
  if (value === undefined || value === null) return listItems.usual;
  if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > listItems.most)
    throw invalidParameter('max_items', `expected a whole number from 1 to ${listItems.most}`);
  return value as number;
}

function bodyOf(value: unknown): Buffer | null {
  if (value === undefined || value === null) return null;
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * Reads a tool's arguments. 400 names the invalid one; an unknown argument is an error too, so that a model learns of
 * it.
 */
function toolArguments(route: Route, sent: Record<string, unknown>): ToolArguments {
  const known = [...Object.keys(route.pathParams), ...Object.keys(route.queryParams)];
  const others = ['max_items', ...(route.body ? ['body'] : [])];
  for (const name of Object.keys(sent)) {
    if (!known.includes(name) && !others.includes(name))
      throw invalidParameter(
        name,
        `is not an argument of this tool; expected one of ${[...known, ...others].join(', ')}`,
      );
  }
  const texts = Object.fromEntries(
    known.flatMap((name) =>
      sent[name] === undefined || sent[name] === null ? [] : [[name, textOf(name, sent[name])]],
    ),
  );
  return { texts, body: bodyOf(sent.body), maxItems: maxItemsOf(sent.max_items) };
}

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

/** One HTTP request. */
export interface Exchange {
  request: Request;
  response: Response;
  caller: Caller;
  /** Bytes of its body. */
  bytes: number;
  messages: LightMessages;
}

/** Offers to clients of one mode. */
export interface Offered {
  tools: readonly Tool[];
  /** Routes that are tools, by their names. */
  routes: ReadonlyMap<string, CompiledRoute>;
  resources: readonly Resource[];
  /** The operations that the tool `run` runs, and all that can be searched; null = each operation is a tool. */
  small: { catalog: Catalog; operations: ReadonlyMap<string, CompiledRoute> } | null;
}

/** A call of a tool while it runs. */
interface Call {
  parts: McpParts;
  offered: Offered;
  exchange: Exchange;
  sent: Record<string, unknown>;
  onEnd: (undo: () => void) => void;
  /** Called before work that is charged by itself. */
  charges: () => void;
}

/**
 * Price around which to select the strikes of an answer, dollars, for the symbol that a tool was called with; null =
 * unknown.
 */
async function spotNear(
  { parts: { services, compiled }, exchange, onEnd }: Call,
  texts: Readonly<Record<string, string>>,
): Promise<number | null> {
  const { route, operation } = compiled.find((each) => each.route.name === 'spot')!;
  const symbol = readTicker(texts.symbol ?? texts.underlying ?? '');
  if (symbol === null) return null;
  const variables = { symbol, protobuf: false };
  const context = services.context(exchange.caller, onEnd);
  const result = await operation.run('values', context, variables).catch(() => null);
  return result && (answerAt(result, route.answer).data as { price: number | null }).price;
}

/** Runs a route. */
async function runRoute(call: Call, compiled: CompiledRoute, sent = call.sent): Promise<ToolResult> {
  const { parts, exchange, onEnd } = call;
  const { caller, request, response } = exchange;
  const { texts, body, maxItems } = toolArguments(compiled.route, sent);
  call.charges();
  const answer = await callRoute(parts.services, compiled, { caller, texts, body, onEnd, request, response });
  return answered(answer, maxItems, () => spotNear(call, texts));
}

/** Runs the operation that the tool `run`, or `change`, names. */
async function runNamed(call: Call, tool: Tool): Promise<ToolResult> {
  const { operation, given } = runArguments(call.sent);
  const compiled = call.offered.small!.operations.get(operation);
  if (!compiled)
    throw invalidParameter('operation', `expected the name of an operation, got ${shownValue(operation)}; use search`);
  const other = compiled.route.method === 'GET' ? runTool : changeTool;
  if (other !== tool) throw invalidParameter('operation', `expected one for this tool; call ${other.name}`);
  return runRoute(call, compiled, given);
}

/** Charges a call that runs no route, and answers it. */
async function chargedOnce(call: Call, answer: () => object): Promise<ToolResult> {
  const { caller, request, response } = call.exchange;
  call.charges();
  await call.parts.services.admission.charge(caller, request, response);
  return answered(answer(), listItems.most);
}

/** Tools that are no routes, by name. */
const otherTools: Readonly<Record<string, (call: Call) => Promise<ToolResult>>> = {
  [graphqlTool.name]: (call) =>
    askGraph(call.sent, (query, variables) => {
      const { request, response } = call.exchange;
      call.charges();
      return call.parts.ask(query, variables, request, response);
    }),
  [estimateTool.name]: (call) =>
    estimateGraph(call.sent, (operation) => {
      const { request, response } = call.exchange;
      call.charges();
      return call.parts.estimate(request, response, operation);
    }),
  [searchTool.name]: (call) => {
    const { query, kind, limit } = searchArguments(call.sent);
    const { catalog } = call.offered.small!;
    return chargedOnce(call, () => ({ results: catalog.search(query, limit, kind, call.exchange.caller) }));
  },
  [describeTool.name]: (call) => {
    const name = describedName(call.sent);
    return chargedOnce(call, () => call.offered.small!.catalog.describe(name, call.exchange.caller));
  },
  [runTool.name]: (call) => runNamed(call, runTool),
  [changeTool.name]: (call) => runNamed(call, changeTool),
};

/** The work of a tool; null = there is none of this name. */
function toolOfName({ tools, routes }: Offered, name: string): ((call: Call) => Promise<ToolResult>) | null {
  const compiled = routes.get(name);
  if (compiled) return (call) => runRoute(call, compiled);
  return tools.some((tool) => tool.name === name) ? otherTools[name]! : null;
}

/** Calls a tool, and charges the call. */
export async function called(
  parts: McpParts,
  offered: Offered,
  exchange: Exchange,
  { name, arguments: read = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<ToolResult> {
  const { services } = parts;
  const { request, response, caller, bytes, messages } = exchange;
  const sent = messages.argumentsOf(read);
  await yieldForBytes(bytes);
  const overRate = () => services.admission.charge(caller, request, response).then(() => null, asFailure);
  const run = toolOfName(offered, name);
  if (!run) {
    const over = await overRate();
    if (over) return failed(over);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${clipped(name, 100)}.`);
  }
  const life = requestLife(response);
  let isCharged = false;
  const charges = () => {
    isCharged = true;
  };
  try {
    return await run({ parts, offered, exchange, sent, onEnd: life.onEnd, charges });
  } catch (error) {
    // A call with invalid arguments is charged like any request.
    const over = isCharged ? null : await overRate();
    const failure = over ?? asFailure(error);
    services.note(request, { code: failure.code });
    if (failure.status >= 500) services.report(request, failure);
    return failed(failure);
  } finally {
    life.end();
  }
}
