import type { FieldMap, ObjectFieldBuilder, ObjectRef } from '@pothos/core';
import type { PriceChecked } from '../resolvers/gex/price-checks.ts';
import type { ResponseMeta } from '../resolvers/response-meta.ts';
import { builder } from './builder.ts';
import { PriceChecksInterface } from './price-checks.ts';
import { ProvenancedInterface } from './provenance.ts';
import { ResponseMetaInterface } from './response-meta.ts';

type Types = typeof builder.$inferSchemaTypes;

const ofRegistry = [ResponseMetaInterface];
const ofMarket = [...ofRegistry, ProvenancedInterface];
const ofPrices = [...ofMarket, PriceChecksInterface];

/** The data that an answer is of: the registry, the market, or the market's prices where they were checked. */
type DataOf<T> = 'registry' | 'market' | (T extends PriceChecked ? 'prices' : never);

/** Declares the type of an answer's `meta`: the fields of every such answer, and its own. */
export function metaOf<T extends ResponseMeta>(
  name: string,
  data: DataOf<T>,
  description: string,
  fields: (t: ObjectFieldBuilder<Types, T>) => FieldMap,
): ObjectRef<Types, T> {
  const interfaces = { registry: ofRegistry, market: ofMarket, prices: ofPrices }[data as 'prices'];
  // The interfaces' shapes are those that `data` requires of T.
  return builder.objectRef<T>(name).implement({ description, interfaces: interfaces as never, fields });
}
