export { Answer, type Bounds } from './answer.ts';
export {
  Client,
  type ClientOptions,
  type GraphAnswer,
  type GraphOptions,
  type SubscribeOptions,
  type TypedDocument,
} from './client.ts';
export { ApiError, type GraphError, TapegraphError, TooManyPages, Unreachable } from './errors.ts';
export type { StreamEvent, StreamOptions } from './events.ts';
export type { Routes } from './generated/routes.ts';
export type * from './generated/types.ts';
export type { CallOptions, Instant, Rate, Texts } from './requests.ts';
export type { SubscriptionResult } from './subscriptions.ts';
