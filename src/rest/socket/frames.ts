import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';

/** The schema of the frames, served verbatim. */
export const streamProtocolSource = readFileSync(
  new URL('../../../proto/stream-protocol.proto', import.meta.url),
  'utf8',
);

const { root } = protobuf.parse(streamProtocolSource);

/** Addresses of the schema; the second is that of clients written for other gateways of this interface. */
export const streamProtocolPaths = ['/v2/stream-protocol.proto', '/v2/ws-protocol.proto'];

/** The schema as a JSON descriptor of protobufjs. */
export const streamProtocolDescriptor = JSON.stringify(root.toJSON());

const frameType = root.lookupType('tapegraph.stream.v2.Frame');

type Fields = Record<string, unknown>;

/** One update of a symbol as the fields of a frame: `{spot: {tsMs, priceScaled}}`. */
export type Update = Readonly<Record<string, Fields>>;

const limits = { sint32: 0x7fffffff, uint32: 0xffffffff };

/** Dollars × 10,000; unset when unknown or over the type's range. */
export function scaled(dollars: number | null): number | undefined {
  if (dollars === null) return undefined;
  const value = Math.round(dollars * 10_000);
  return Math.abs(value) <= limits.sint32 ? value : undefined;
}

/** A count as uint32; unset when unknown or over the type's range. */
export function uint32(count: number | null): number | undefined {
  return count !== null && count <= limits.uint32 ? count : undefined;
}

/** A count as int32; unset when unknown or over the type's range. */
export function int32(count: number | null): number | undefined {
  return count !== null && count <= limits.sint32 ? count : undefined;
}

/** A value for an optional field: unset if unknown. */
export const known = <T>(value: T | null): T | undefined => value ?? undefined;

/** The bytes of a frame. */
export function encodeFrame(symbol: string, update: Update): Uint8Array {
  return frameType.encode({ symbol, ...update }).finish();
}
