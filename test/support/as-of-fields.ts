import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { type GraphWalk, objectType } from './graph-walk.ts';

/** Fields that say of themselves that they are of the past. */
export const toldOfThePast: ReadonlySet<string> = new Set(['at', 'atEffective', 'knownAt', 'plane', 'id', 'nodeId']);

/** Fields that are not selected: also the market around each of a hundred prints, which that of a leg stands for. */
export const notSelected: ReadonlySet<string> = new Set([
  ...toldOfThePast,
  ...['FlowEvent.context', 'RankedPrint.context'],
]);

const fieldsOf = (type: string) => Object.values(objectType(type).getFields());

/**
 * A selection by name for every market field, those of a symbol and of its parts one by one.
 *
 * @param symbol The symbol whose fields are selected.
 */
export function asOfFields(walk: GraphWalk, symbol: string): (readonly [name: string, selection: string])[] {
  const within = (text: string | null) => text && `symbol(symbol: "${symbol}") { ${text} }`;
  return [
    ...fieldsOf('AsOf').map(
      (field) => [field.name, walk.selection(objectType('AsOf'), field, ['AsOf', 'Symbol'])] as const,
    ),
    ...fieldsOf('Symbol').flatMap((field) => {
      const type = getNamedType(field.type);
      const parts =
        isObjectType(type) && /^Symbol(Gex|Flow|OffExchange|Volatility)$/.test(type.name) ? fieldsOf(type.name) : [];
      if (parts.length === 0)
        return [[`symbol.${field.name}`, within(walk.selection(objectType('Symbol'), field))] as const];
      return parts.map((part) => {
        const text = walk.selection(type as GraphQLObjectType, part, ['Symbol', type.toString()]);
        return [`symbol.${field.name}.${part.name}`, within(text && `${field.name} { ${text} }`)] as const;
      });
    }),
  ].filter((each): each is readonly [string, string] => each[1] !== null);
}
