import type { Request } from 'express';
import type { StoredOverview } from '../core/domain/market/stored-overview.ts';
import type { CompiledRoute } from '../rest/contract/compiled-route.ts';
import type { JsonSchema } from '../rest/contract/json-schema.ts';
import type { StreamOperations } from '../rest/stream/stream.ts';
import type { PublishedLimits } from './guide-limits.ts';
import type { SampleMarket } from './market-note.ts';

/** The server's state that pages show. */
export interface PagesParts {
  /** The routes, and their OpenAPI document. */
  compiled: readonly CompiledRoute[];
  description: JsonSchema;
  /** The operations of the topics of the stream. */
  streams: StreamOperations;
  /** True if the graph answers trusted documents alone. */
  trustedOnly: boolean;
  /** Limits in the guides. */
  limits: PublishedLimits;
  /** The server's clock, epoch ms. */
  now: () => number;
  /**
   * The sample market, with its key if the request may see it: see `ServerParts`. Null = this server has other data.
   */
  sample: (request: Request) => Promise<SampleMarket | null>;
  /** The default tickers of the pages, which have data, best first; empty if nothing is stored. */
  firstSymbols: () => Promise<readonly string[]>;
  /** Contents of the store. */
  stored: () => Promise<StoredOverview>;
}
