import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';

/** An argument of the schema as a variable `$it` of a document. */
export interface VariablePosition {
  /** `Type.field.argument`. */
  name: string;
  query: string;
  type: GraphQLInputType;
  /** Values of the other variables of the document. */
  others: Record<string, unknown>;
}

/** A legal value of each scalar that a required argument has. */
const legal: Record<string, unknown> = {
  Ticker: 'SPY',
  ID: 'none',
  String: 'SPY',
  Int: 1,
  SessionDate: '2026-11-19',
  PointInTime: '2026-11-19',
  OptionContractId: 'O:SPY261120C00630000',
  Classification: 'non_professional',
  ImportBody: '',
  JournalAccountInput: { name: 'a' },
  JournalAccountPatch: { name: 'a' },
  JournalTradeInput: { accountId: 'a', symbol: 'SPY', side: 'buy', qty: 1, price: 1 },
  JournalTradePatch: { note: 'a' },
  ScreenInput: { sector: { eq: 'Energy' } },
  SavedScreenInput: { name: 'a', where: { sector: { eq: 'Energy' } } },
  ScreenOrder: { figure: 'change_pct' },
  GexConvention: { unit: 'per_percent' },
};

/** A legal value of a type that is neither a list nor nullable; undefined where none is known. */
export function legalValue(type: GraphQLInputType): unknown {
  const nullable = isNonNullType(type) ? type.ofType : type;
  return isListType(nullable) ? [legalValue(nullable.ofType)] : legal[getNamedType(nullable).name];
}

/** True if a type is, or contains, a list or an input object. */
export function isStructured(type: GraphQLInputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type) || isInputObjectType(getNamedType(type));
}

class Document {
  readonly declared: string[] = [];
  readonly values: Record<string, unknown> = {};

  /** The arguments of a field: those that it requires, and `it`. */
  args(args: readonly GraphQLArgument[], it: string | null): string {
    const given = args
      .filter(({ name, type }) => name === it || isNonNullType(type))
      .map(({ name, type }) => {
        if (name === it) return `${name}: $it`;
        const variable = `other${this.declared.length}`;
        this.declared.push(`$${variable}: ${type}`);
        this.values[variable] = legalValue(type);
        return `${name}: $${variable}`;
      });
    return given.length === 0 ? '' : `(${given.join(', ')})`;
  }
}

interface Step {
  parent: GraphQLObjectType;
  field: string;
}

/** The shortest way from a root to each object type. */
function ways(): Map<GraphQLObjectType, Step[]> {
  const roots = [schema.getQueryType()!, schema.getMutationType()!];
  const found = new Map<GraphQLObjectType, Step[]>(roots.map((root) => [root, []]));
  for (const [type, way] of found)
    for (const { name, type: to } of Object.values(type.getFields())) {
      const next = getNamedType(to);
      if (isObjectType(next) && !found.has(next)) found.set(next, [...way, { parent: type, field: name }]);
    }
  return found;
}

/** Every argument of the schema that a query or a mutation reaches. */
export function variablePositions(): VariablePosition[] {
  const positions: VariablePosition[] = [];
  for (const [type, way] of ways()) {
    for (const field of Object.values(type.getFields())) {
      for (const argument of field.args) {
        const document = new Document();
        const leaf = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : '';
        const last = `${field.name}${document.args(field.args, argument.name)}${leaf}`;
        const selection = way.reduceRight(
          (below, step) =>
            `${step.field}${document.args(step.parent.getFields()[step.field]!.args, null)} { ${below} }`,
          last,
        );
        const root = way[0]?.parent ?? type;
        const kind = root === schema.getMutationType() ? 'mutation' : 'query';
        positions.push({
          name: `${type.name}.${field.name}.${argument.name}`,
          query: `${kind} Sent(${[`$it: ${argument.type}`, ...document.declared].join(', ')}) { ${selection} }`,
          type: argument.type,
          others: document.values,
        });
      }
    }
  }
  return positions;
}
