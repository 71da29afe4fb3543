import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type InputShapeFromFields,
  type PothosOutputFieldConfig,
  type Resolver,
  type SchemaTypes,
  type ShapeFromTypeParam,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLField } from 'graphql';
import type { FieldCost, FieldSize } from './cost.ts';

/** Groups in which usage is counted (contract-notes 2). */
export type UsageGroup =
  | 'market.reference'
  | 'market.live'
  | 'market.bars'
  | 'market.screener'
  | 'analytics.gex'
  | 'analytics.flow'
  | 'analytics.vol'
  | 'analytics.offexchange'
  | 'account'
  | 'watchlists'
  | 'journal';

/** The group in which usage counts a field that reads; `parent`: that of the field above. */
type FieldScope = UsageGroup | 'parent';

/** The context of a field that declares no scope: it reads nothing. Declare `scope` and `price` to read. */
interface WithoutReads {
  readonly declareScopeAndPrice: never;
}

declare global {
  export namespace PothosSchemaTypes {
    interface Plugins<Types extends SchemaTypes> {
      fieldOptions: FieldOptionsPlugin<Types>;
    }
    interface FieldOptions<
      Types extends SchemaTypes = SchemaTypes,
      ParentShape = unknown,
      Type extends TypeParam<Types> = TypeParam<Types>,
      Nullable extends FieldNullability<Type> = FieldNullability<Type>,
      Args extends InputFieldMap = InputFieldMap,
      ResolveShape = unknown,
      ResolveReturnShape = unknown,
    > {
      /** Length of its value. */
      size?: FieldSize;
      /** Requirements on its callers, if they are not those of its scope group. */
      needs?: Needs;
      /** True if its value changes with the clock, whatever session it is of: an answer with it has no ETag. */
      readsClock?: true;
    }
    interface InferredFieldOptions<
      Types extends SchemaTypes,
      ResolveShape = unknown,
      Type extends TypeParam<Types> = TypeParam<Types>,
      Nullable extends FieldNullability<Type> = FieldNullability<Type>,
      Args extends InputFieldMap = InputFieldMap,
      ResolveReturnShape = unknown,
    > {
      Read:
        | {
            scope?: undefined;
            price?: FieldCost<InputShapeFromFields<Args>>;
            resolve: Resolver<
              ResolveShape,
              InputShapeFromFields<Args>,
              WithoutReads,
              ShapeFromTypeParam<Types, Type, Nullable>,
              ResolveReturnShape
            >;
          }
        | {
            scope: FieldScope;
            price: FieldCost<InputShapeFromFields<Args>>;
            resolve: Resolver<
              ResolveShape,
              InputShapeFromFields<Args>,
              Types['Context'],
              ShapeFromTypeParam<Types, Type, Nullable>,
              ResolveReturnShape
            >;
          };
    }
  }
}

/**
 * Passes the options of fields that are ours to their extensions. A field whose resolver takes the request's context
 * does not compile without a scope and a price.
 */
class FieldOptionsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(config: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { scope, price, size, needs, readsClock } = config.pothosOptions as PothosSchemaTypes.FieldOptions<Types> & {
      scope?: FieldScope;
      price?: FieldCost;
    };
    return {
      ...config,
      extensions: {
        ...config.extensions,
        ...(scope !== undefined && scope !== 'parent' && { scopeGroup: scope }),
        ...((price || size) && { cost: { ...size, ...price } }),
        ...(needs && { needs }),
        ...(readsClock && { readsClock }),
      },
    };
  }
}

SchemaBuilder.registerPlugin('fieldOptions', FieldOptionsPlugin);

/**
 * Requirements on a caller (contract-notes 1). `any`: a credential. `symbol`: a tier that reads the symbol, and the
 * declaration if the symbol requires it. `flow`: tier pro and the declaration, then the symbol's rule. `off-exchange`:
 * tier basic and the declaration, then the symbol's rule. `site-session`: a login, not an API key;
 * `declared-site-session`: a login with the declaration.
 */
export type Needs = 'any' | 'symbol' | 'flow' | 'off-exchange' | 'site-session' | 'declared-site-session';

/** Requirements of the data of each scope group. They document the rule; the resolvers enforce it. */
export const needsOfGroup: Readonly<Record<string, Needs>> = {
  'market.live': 'symbol',
  'market.bars': 'symbol',
  'analytics.gex': 'symbol',
  'analytics.vol': 'symbol',
  'analytics.flow': 'flow',
  'analytics.offexchange': 'off-exchange',
};

/** Requirements of a field of the graph. */
export function needsOf({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): Needs {
  const { needs: own, scopeGroup } = extensions as { needs?: Needs; scopeGroup?: string };
  return own ?? (scopeGroup === undefined ? 'any' : (needsOfGroup[scopeGroup] ?? 'any'));
}

/** True for such a field: an answer with it has no ETag. */
export function isOfClock({ extensions }: Pick<GraphQLField<unknown, unknown>, 'extensions'>): boolean {
  return (extensions as { readsClock?: true }).readsClock === true;
}
