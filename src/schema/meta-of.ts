import type { FieldMap, ObjectFieldBuilder, ObjectRef } from '@pothos/core';
import { whenThere } from '../platform/runtime/maybe-promise.ts';
import type { PriceChecked } from '../resolvers/gex/price-checks.ts';
import type { ResponseMeta } from '../resolvers/response-meta.ts';
import { builder } from './builder.ts';
import { ProvenancedInterface } from './provenance.ts';
import { ResponseMetaInterface } from './response-meta.ts';

/** The interface of answers with checks of the prices behind their figures. */
const PriceChecksInterface = builder.interfaceRef<PriceChecked>('PriceChecks').implement({
  description: 'Checks of the prices behind the figures of an answer.',
  fields: (t) => ({
    spotStale: t.boolean({
      nullable: true,
      description:
        'True if the spot and the option quotes are not of one instant, so that options are priced at the spot that the quotes imply. With several captures: true if this holds for one of them. Null if the quotes imply no spot, or if it was not checked: solved minutes store no implied spot.',
      price: { once: 0.2, each: 0.05 },
      resolve: ({ priceChecks }: PriceChecked) => whenThere(priceChecks(), ({ spotStale }) => spotStale),
    }),
    inconsistentExpiries: t.field({
      type: ['SessionDate'],
      nullable: true,
      price: { once: 0.2, each: 0.05, rows: 'expiries' },
      description:
        'Expiries in the answer that are within 30 days and whose expected moves, from the straddle and from the volatility, differ by more than 5%, ascending. Null if they were not checked, as for solved minutes, which mix solved contracts with captured ones.',
      resolve: ({ priceChecks }: PriceChecked) =>
        whenThere(priceChecks(), ({ inconsistentExpiries }) => inconsistentExpiries),
    }),
  }),
});

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
