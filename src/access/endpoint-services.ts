import type { IncomingMessage } from 'node:http';
import type { GraphQLSchema } from 'graphql';
import type { OptionRoots } from '../core/domain/chain/option-root.ts';
import type { Provenance } from '../platform/config/config.ts';
import type { ClientAddress } from '../platform/http/client-address.ts';
import type { MaybePromise } from '../platform/runtime/maybe-promise.ts';
import type { Failure } from '../platform/wire/failure.ts';
import type { OpenStream } from '../platform/wire/open-stream.ts';
import type { Admission } from './admission.ts';
import type { Caller } from './caller.ts';
import type { Guarded } from './entitlement/entitlement.ts';

/** Properties of a request that an endpoint adds to the log and metrics. */
interface Noted {
  /** The kind of a GraphQL operation: `query`, `mutation` or `subscription`. */
  operation?: string;
  groups?: readonly string[];
  code?: string;
}

/** The registry, as far as it decides about rights, and names symbols. */
export interface RightsRegistry {
  /** Undefined = an unknown ticker, which has no restriction. */
  get(ticker: string): Guarded | undefined;
  /** The registered symbols, ascending. */
  registered(): readonly { symbol: string }[];
  roots: OptionRoots;
}

/** Services of the server for every endpoint: REST, the graph, streams and MCP. */
export interface EndpointServices {
  schema: GraphQLSchema;
  admission: Admission;
  /** The entries of symbols and the underlyings of contracts, by which rights are decided before an operation runs. */
  registry: () => MaybePromise<RightsRegistry>;
  /** Creates the graph's context for one request; `onEnd` runs its argument when the request ends. */
  context: (caller: Caller, onEnd: (undo: () => void) => void) => object;
  /** Takes an in-flight slot for the request's stock bars, unless it holds one. Throws 429 if none is left. */
  takeInFlightSlot: (context: object) => Promise<void>;
  /** Registers an open stream for heartbeats, rechecks and shutdown. The returned function removes it. */
  attachStream: (stream: OpenStream) => () => void;
  /** The address of the client behind trusted proxies, for limits on anonymous requests. */
  clientAddress: ClientAddress;
  now: () => number;
  /** Limits of an answer to a document that is not of the contract: bytes, and processing time, ms. */
  answerLimits: { bytes: number; ms: number };
  /** Callers that see the names of the files that figures come from. */
  provenance: Provenance;
  /** Logs an unexpected failure. */
  report: (request: IncomingMessage, failure: Failure) => void;
  note: (request: IncomingMessage, found: Noted) => void;
  /** Runs a part of the work as a span of the trace. */
  span: <T>(name: string, facts: Record<string, string>, work: () => T) => T;
}
