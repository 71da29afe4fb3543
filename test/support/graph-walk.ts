import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { schema } from '../../src/schema/index.ts';

/** Types from which most of the graph is reached. */
const large = new Set(['Symbol', 'OptionContract', 'ChainRow', 'GexCapture', 'GexStrike', 'CrossSectionPage', 'Chain']);

/** Fields with many items: they lead to plain values alone. */
const long = new Set(['SymbolGex.history']);

interface WalkPath {
  /** Types that were selected. */
  seen: Set<string>;
  /** True below the items of a list. */
  isInList: boolean;
}

export const objectType = (name: string) => schema.getType(name) as GraphQLObjectType;

/** Names of the interfaces' types, an object type's own name. */
const typesOf = (type: GraphQLNamedType): readonly GraphQLObjectType[] =>
  isObjectType(type) ? [type] : isInterfaceType(type) ? schema.getPossibleTypes(type) : [];

/**
 * Selects every field below a field, of each object type once. Of the large objects that the items of a list lead to,
 * only plain values are selected: the answer would have too many.
 */
export class GraphWalk {
  /** The fields that were selected, as `Type.field`. */
  readonly selected = new Set<string>();
  readonly #texts: Readonly<Record<string, string>>;
  readonly #without: ReadonlySet<string>;

  /**
   * @param texts Values of arguments as texts of a document: those of `field.argument` are always given, those of an
   *   argument's or a type's name where it is required.
   * @param without Names of fields that are omitted, and `Type.field`.
   */
  constructor(texts: Readonly<Record<string, string>>, without: ReadonlySet<string>) {
    this.#texts = texts;
    this.#without = without;
  }

  /** A field with all below it. Null if it is omitted or nothing is left of it. */
  selection(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>, above = [parent.name]): string | null {
    return this.#selection(parent, field, { seen: new Set(above), isInList: false });
  }

  #selection(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>, path: WalkPath): string | null {
    if (this.#without.has(field.name) || this.#without.has(`${parent.name}.${field.name}`)) return null;
    const type = getNamedType(field.type);
    const text = `${field.name}${this.#arguments(parent, field)}`;
    const name = `${parent.name}.${field.name}`;
    if (isLeafType(type)) {
      this.selected.add(name);
      return text;
    }
    const isList = isListType(getNullableType(field.type));
    const sets = typesOf(type)
      .map(
        (each) =>
          [
            each,
            path.isInList && large.has(each.name)
              ? this.#values(each)
              : this.#fields(each, { ...path, isInList: path.isInList || isList || long.has(name) }),
          ] as const,
      )
      .filter(([, set]) => set !== '');
    if (sets.length === 0) return null;
    this.selected.add(name);
    const set = sets.map(([each, below]) => (isObjectType(type) ? below : `... on ${each.name} { ${below} }`));
    return `${text} { ${set.join(' ')} }`;
  }

  #fields(type: GraphQLObjectType, path: WalkPath): string {
    const fields = Object.values(type.getFields());
    if (path.seen.has(type.name)) return '';
    if (!fields.every((field) => isLeafType(getNamedType(field.type)))) path.seen.add(type.name);
    return fields
      .map((field) => this.#selection(type, field, path))
      .filter((text) => text !== null)
      .join(' ');
  }

  /** The plain values of a type that nothing is asked for. */
  #values(type: GraphQLObjectType): string {
    const plain = Object.values(type.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
    return plain
      .filter(({ args }) => args.length === 0)
      .map((field) => this.#selection(type, field, { seen: new Set(), isInList: true }))
      .filter((text) => text !== null)
      .join(' ');
  }

  #arguments(parent: GraphQLObjectType, { name: field, args }: GraphQLField<unknown, unknown>): string {
    const given = args.flatMap(({ name, type }) => {
      const required = isNonNullType(type) ? (this.#texts[name] ?? this.#texts[getNamedType(type).name]) : '';
      const text = this.#texts[`${field}.${name}`] ?? required;
      if (text === undefined) throw new Error(`no text for ${name} of ${parent.name}.${field}`);
      return text === '' ? [] : [`${name}: ${text}`];
    });
    return given.length > 0 ? `(${given.join(', ')})` : '';
  }
}
