import {
  type DocumentNode,
  defaultFieldResolver,
  extendSchema,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLList,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  type SelectionSetNode,
  TypeInfo,
  TypeNameMetaFieldDef,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { isPromise } from './completed.ts';
import { fragmentsOf, responseKey } from './document.ts';
import { isIncluded } from './execution-plan.ts';
import { RowWriter } from './row-writer.ts';

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** True if a field of a row is a value that the row has, or that is computed from the row alone. */
function isPlainField({ type, args, resolve }: GraphQLField<unknown, unknown>): boolean {
  return isLeafType(getNullableType(type)) && args.length === 0 && (resolve === undefined || resolve.length <= 1);
}

/** The fields that a selection asks of a row, fragments expanded; null if it asks for more than plain values. */
function plainFields(
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  fragments: Fragments,
): FieldNode[] | null {
  const fields: FieldNode[] = [];
  for (const node of selections) {
    if (node.kind === Kind.FIELD) {
      const isName = node.name.value === TypeNameMetaFieldDef.name;
      if (!isName && !isPlainField(type.getFields()[node.name.value]!)) return null;
      // A key that objects understand otherwise.
      if (responseKey(node) === '__proto__') return null;
      fields.push(node);
      continue;
    }
    const fragment = node.kind === Kind.FRAGMENT_SPREAD ? fragments.get(node.name.value) : node;
    if (
      !fragment ||
      node.directives?.length ||
      (fragment.typeCondition && fragment.typeCondition.name.value !== type.name)
    )
      return null;
    const below = plainFields(type, fragment.selectionSet, fragments);
    if (!below) return null;
    fields.push(...below);
  }
  return fields;
}

/** The type of the objects in a list of objects. */
function rowTypeOf(type: GraphQLOutputType): GraphQLObjectType | null {
  const list = getNullableType(type);
  if (!isListType(list)) return null;
  const item = getNullableType(list.ofType as GraphQLOutputType);
  return isObjectType(item) && !item.isTypeOf ? item : null;
}

/** The twin of a field, whose value is its rows written. */
const plainName = (field: string) => `${field}__plain`;

/** A scalar beside the twins, whose values are passed on as they are: written rows, variables that were read. */
export const opaqueScalar = 'Opaque__';

/** Selection on the rows of a twin. */
interface PlainSelection extends SelectionSetNode {
  selections: readonly FieldNode[];
  /** Keys that are omitted where they are null. */
  absent: ReadonlySet<string>;
}

type Variables = GraphQLResolveInfo['variableValues'];

/**
 * Maximum number of fields of rows that can be omitted: a writer is cached for each selection of them, so clients must
 * not be able to ask for any number.
 */
const mostConditional = 4;

const isConditionalField = ({ directives }: FieldNode) => (directives?.length ?? 0) > 0;

/** Computes a value from the fields that are included, once for each selection of them. */
function byInclusion<T>(
  nodes: readonly FieldNode[],
  make: (nodes: readonly FieldNode[]) => T,
): (variables: Variables) => T {
  const made = new Map<string, T>();
  const conditional = nodes.filter(isConditionalField);
  return (variables) => {
    const omitted = new Set(conditional.filter((node) => !isIncluded(node, variables)));
    const key = conditional.map((node) => (omitted.has(node) ? 0 : 1)).join('');
    let found = made.get(key);
    if (found === undefined) {
      found = make(nodes.filter((node) => !omitted.has(node)));
      made.set(key, found);
    }
    return found;
  };
}

/** The resolver of a field's twin: the field's own rows, written as the operation asks for them. */
function rowsResolver(field: GraphQLField<unknown, unknown>): GraphQLFieldResolver<unknown, unknown> {
  const rowType = rowTypeOf(field.type)!;
  const { ofType } = getNullableType(field.type) as GraphQLList<GraphQLOutputType>;
  const mayBeNull = !isNonNullType(ofType);
  const writers = new WeakMap<readonly FieldNode[], (variables: Variables) => RowWriter>();
  const writerOf = ({ fieldNodes, variableValues }: GraphQLResolveInfo): RowWriter => {
    let find = writers.get(fieldNodes);
    if (!find) {
      const sets = fieldNodes.map(({ selectionSet }) => selectionSet as PlainSelection);
      const options = { mayBeNull, absent: sets[0]!.absent };
      find = byInclusion(
        sets.flatMap(({ selections }) => selections),
        (asked) => new RowWriter(rowType, asked, options),
      );
      writers.set(fieldNodes, find);
    }
    return find(variableValues);
  };
  const resolve = field.resolve ?? defaultFieldResolver;
  return (source, args, context, info) => {
    const writer = writerOf(info);
    const written = (rows: unknown) => (rows === null || rows === undefined ? null : writer.write(rows));
    const rows = resolve(source, args, context, field.resolve ? info : { ...info, fieldName: field.name });
    return isPromise(rows) ? rows.then(written) : written(rows);
  };
}

/** The schema with the opaque scalar, and a twin of each field whose value is a list of objects. */
export function withTwins(schema: GraphQLSchema): GraphQLSchema {
  const twins = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).flatMap((field) => (rowTypeOf(field.type) ? [{ type: type.name, field }] : []))
      : [],
  );
  const text = twins.map(
    ({ type, field }) =>
      `extend type ${type} { ${plainName(field.name)}: ${opaqueScalar}${isNonNullType(field.type) ? '!' : ''} }`,
  );
  const extended = extendSchema(schema, parse([`scalar ${opaqueScalar}`, ...text].join('\n')), { assumeValid: true });
  for (const { type, field } of twins) {
    const fields = (extended.getType(type) as GraphQLObjectType).getFields();
    Object.assign(fields[plainName(field.name)]!, {
      args: fields[field.name]!.args,
      resolve: rowsResolver(field),
    });
  }
  return extended;
}

/** A field of a document. */
interface AskedField {
  node: FieldNode;
  /** The object type that it is asked of, and its response key; null = of an interface or a union. */
  position: string | null;
  /** Fields of its rows, if it asks for plain values alone. */
  rows: FieldNode[] | null;
}

function askedFields(schema: GraphQLSchema, document: DocumentNode): AskedField[] {
  const fragments = fragmentsOf(document);
  const types = new TypeInfo(schema);
  const asked: AskedField[] = [];
  const Field = (node: FieldNode) => {
    const parent = types.getParentType();
    const type = types.getType();
    const rowType = isObjectType(parent) && type ? rowTypeOf(type) : null;
    const rows = rowType && plainFields(rowType, node.selectionSet!, fragments);
    asked.push({
      node,
      position: isObjectType(parent) ? `${parent.name}.${responseKey(node)}` : null,
      rows: rows && rows.filter(isConditionalField).length <= mostConditional ? rows : null,
    });
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return asked;
}

/** True if parts of a document can be omitted. */
function isConditional(document: DocumentNode): boolean {
  let found = false;
  const Directive = () => {
    found = true;
  };
  visit(document, { Directive });
  return found;
}

/**
 * The document with twins instead of fields from which only plain values of their rows are selected. Fields that are
 * answered under one key stay together.
 *
 * @param absent Keys of rows that are omitted where they are null.
 */
export function withTwinsIn(schema: GraphQLSchema, document: DocumentNode, absent: ReadonlySet<string>): DocumentNode {
  const asked = askedFields(schema, document);
  const abstractKeys = new Set(asked.flatMap(({ node, position }) => (position === null ? [responseKey(node)] : [])));
  const together = Map.groupBy(asked, ({ position }) => position);
  const mayBeLeftOut = isConditional(document);
  const isSafe = ({ node, position }: AskedField) => {
    const others = together.get(position)!;
    if (others.length > 1 && mayBeLeftOut) return false;
    return !abstractKeys.has(responseKey(node)) && others.every(({ rows }) => rows !== null);
  };
  const twins = new Map<FieldNode, FieldNode>();
  for (const field of asked) {
    if (!field.rows || !isSafe(field)) continue;
    const { node, rows } = field;
    const selectionSet: PlainSelection = { kind: Kind.SELECTION_SET, selections: rows, absent };
    twins.set(node, {
      ...node,
      alias: { kind: Kind.NAME, value: responseKey(node) },
      name: { kind: Kind.NAME, value: plainName(node.name.value) },
      selectionSet,
    });
  }
  return visit(document, { Field: { leave: (node) => twins.get(node) } });
}
