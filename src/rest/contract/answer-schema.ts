import {
  type DocumentNode,
  type FieldNode,
  type GraphQLEnumType,
  type GraphQLInterfaceType,
  GraphQLNonNull,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
} from 'graphql';
import { responseKey } from '../../graphql/execution/document.ts';
import { named } from './components.ts';
import { absentInCaps, absentInMeta, readAtKey } from './envelope.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ReadOperation, StoredOperation } from './operation.ts';
import type { Route } from './route.ts';

type FieldsType = GraphQLObjectType | GraphQLInterfaceType;

const scalarSchemas: Record<string, JsonSchema> = {
  String: { type: 'string' },
  ID: { type: 'string' },
  Boolean: { type: 'boolean' },
  Int: { type: 'integer', format: 'int32' },
  Float: { type: 'number', format: 'double' },
  EpochMs: { type: 'integer', format: 'int64' },
  Long: { type: 'integer', format: 'int64' },
  StrikeThousandths: { type: 'integer', format: 'int64' },
  SessionDate: { type: 'string', format: 'date' },
  // An open string (spec 2.1): new values may appear.
  Plane: { type: 'string' },
  CountsByName: { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } },
};

interface Walk {
  /** The operation's name. */
  operation: string;
  schema: GraphQLSchema;
  document: DocumentNode;
  /** Keys that are absent instead of null. */
  absent: ReadonlySet<string>;
  /** True if the schemas of objects are written inline: an operator's selections of one type may differ. */
  isInline?: boolean;
}

function typeSchema(walk: Walk, type: GraphQLOutputType, selection: SelectionSetNode | undefined): JsonSchema {
  const nullable = !isNonNullType(type);
  const inner = getNullableType(type);
  const described = isListType(inner)
    ? { type: 'array', items: typeSchema(walk, inner.ofType, selection) }
    : (isObjectType(inner) || isInterfaceType(inner)) && selection
      ? objectSchema(walk, inner, selection)
      : isEnumType(inner) && !(inner.name in scalarSchemas)
        ? enumSchema(inner)
        : { ...(scalarSchemas[String(inner)] ?? { type: 'string' }) };
  return nullable ? orNull(described) : described;
}

function enumSchema(type: GraphQLEnumType): JsonSchema {
  const values = type.getValues().map((value) => value.name);
  return named('schemas', enumName(type.name), { type: 'string', enum: values }, type.description);
}

function orNull(described: JsonSchema): JsonSchema {
  if (typeof described.type !== 'string') return { anyOf: [described, { type: 'null' }] };
  return {
    ...described,
    type: [described.type, 'null'],
    ...(Array.isArray(described.enum) ? { enum: [...described.enum, null] } : {}),
  };
}

function fragmentSelection(document: DocumentNode, name: string): SelectionSetNode | null {
  const found = document.definitions.find((node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === name);
  return found?.kind === Kind.FRAGMENT_DEFINITION ? found.selectionSet : null;
}

interface SelectedField {
  node: FieldNode;
  of: FieldsType;
  conditional: boolean;
}

/**
 * The fields that an operation selects of a type, fragments expanded; those of a fragment on another type are optional.
 */
function selectedFields(walk: Walk, type: FieldsType, selection: SelectionSetNode): SelectedField[] {
  return selection.selections.flatMap((node) => {
    const conditional = (node.directives?.length ?? 0) > 0;
    if (node.kind === Kind.FIELD) return [{ node, of: type, conditional }];
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const set = fragmentSelection(walk.document, node.name.value);
      return set ? selectedFields(walk, type, set) : [];
    }
    const on = node.typeCondition ? (walk.schema.getType(node.typeCondition.name.value) as FieldsType) : type;
    const fields = selectedFields(walk, on, node.selectionSet);
    return on === type && !conditional ? fields : fields.map((field) => ({ ...field, conditional: true }));
  });
}

/** Every field of a type without arguments or fields below, under its own name. */
function allFields(type: FieldsType): SelectedField[] {
  return Object.keys(type.getFields()).map((value) => ({
    node: { kind: Kind.FIELD, name: { kind: Kind.NAME, value } },
    of: type,
    conditional: false,
  }));
}

/** Types whose component lists all their fields: answers hold different ones by route (spec 2.1). */
const wholeTypes = new Set(['Caps']);

/** Types whose fields the graph returns as null, with an error, if a route answers 404. */
const notFoundForNull = new Set(['Symbol']);

function requiredType(type: GraphQLOutputType): GraphQLOutputType {
  return isNonNullType(type) ? type : new GraphQLNonNull(type);
}

function objectSchema(walk: Walk, type: FieldsType, selection: SelectionSetNode): JsonSchema {
  const part = fieldsSchema(walk, selectedFields(walk, type, selection));
  const whole = wholeTypes.has(type.name) ? fieldsSchema(walk, allFields(type)) : undefined;
  if (walk.isInline && !whole) return { ...part, ...(type.description ? { description: type.description } : {}) };
  return named('schemas', schemaName(walk.operation, type.name), part, type.description, whole);
}

function fieldsSchema(walk: Walk, fields: readonly SelectedField[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const { node, of, conditional } of fields) {
    const field = node.name.value === '__typename' ? TypeNameMetaFieldDef : of.getFields()[node.name.value]!;
    const key = responseKey(node);
    // A key that is absent instead of null is never null.
    const neverNull = notFoundForNull.has(of.name) || walk.absent.has(key);
    const fieldType = neverNull ? requiredType(field.type) : field.type;
    properties[key] = {
      ...typeSchema(walk, fieldType, node.selectionSet),
      ...(field.description ? { description: field.description } : {}),
    };
    if (!conditional && !walk.absent.has(key)) required.push(key);
  }
  return { type: 'object', properties, required };
}

/** The JSON Schema of what an operation's only field `data` gives. */
export function dataSchema(schema: GraphQLSchema, { document, definition }: ReadOperation): JsonSchema {
  const walk = { operation: definition.name!.value, schema, document, absent: new Set<string>() };
  const type = schema.getRootType(definition.operation)!;
  return (objectSchema(walk, type, definition.selectionSet).properties as Record<string, JsonSchema>).data!;
}

/** The inline JSON Schema of the selection of a type by an operator's operation. */
export function inlineSchema(
  schema: GraphQLSchema,
  { document, definition }: ReadOperation,
  type: GraphQLOutputType,
  selection: SelectionSetNode | undefined,
): JsonSchema {
  const walk = { operation: definition.name!.value, schema, document, absent: new Set<string>(), isInline: true };
  return typeSchema(walk, type, selection);
}

/** The JSON Schema of an envelope; `meta` selects metadata of `metaType`, null = the caps and the instant alone. */
export function ownEnvelope(
  schema: GraphQLSchema,
  { document, definition }: ReadOperation,
  data: JsonSchema,
  meta: { type: GraphQLObjectType; selection: SelectionSetNode },
): JsonSchema {
  const operation = definition.name!.value;
  const walk = { operation, schema, document, absent: absentFromMeta, isInline: true };
  const described = withOwn(objectSchema(walk, meta.type, meta.selection));
  const envelope = { type: 'object', properties: { data, meta: described }, required: ['data', 'meta'] };
  return named('schemas', responseName(operation), envelope);
}

const absentFromMeta = new Set([...absentInMeta, ...absentInCaps]);

const isMeta = ({ node }: SelectedField): boolean => responseKey(node) === 'meta';

const noteSchema: JsonSchema = { type: 'string', description: 'A remark on the answer.' };
const readAtSchema: JsonSchema = {
  type: 'integer',
  format: 'int64',
  description: 'Read instant of market data, epoch ms: when the request arrived. Absent if the answer carries an ETag.',
};

/** Metadata that any answer may have: a remark, and of market data the read instant. */
function withOwn(meta: JsonSchema): JsonSchema {
  const properties = meta.properties as Record<string, JsonSchema>;
  return { ...meta, properties: { ...properties, note: properties.note ?? noteSchema, [readAtKey]: readAtSchema } };
}

/** The JSON Schema of a route's answer, from the types of the fields its operation selects. */
export function answerSchema(schema: GraphQLSchema, route: Route, operation: StoredOperation): JsonSchema {
  const definition = operation.document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )!;
  let type = schema.getRootType(definition.operation)!;
  let selection = definition.selectionSet;
  const walk = {
    operation: definition.name!.value,
    schema,
    document: operation.document,
    absent: new Set(route.absent),
  };
  for (const key of route.answer === '' ? [] : route.answer.split('.')) {
    const { node } = selectedFields(walk, type, selection).find(({ node }) => responseKey(node) === key)!;
    type = getNullableType(type.getFields()[node.name.value]!.type) as GraphQLObjectType;
    selection = node.selectionSet!;
  }
  const fields = selectedFields(walk, type, selection);
  const inMeta = { ...walk, absent: absentFromMeta };
  const { meta } = fieldsSchema(inMeta, fields.filter(isMeta)).properties as { meta: JsonSchema };
  const payload = fieldsSchema(
    walk,
    fields.filter((field) => !isMeta(field)),
  );
  const data =
    (payload.properties as Record<string, JsonSchema>).data ??
    named('schemas', schemaName(walk.operation, type.name), payload, type.description);
  const envelope = { type: 'object', properties: { data, meta: withOwn(meta) }, required: ['data', 'meta'] };
  return named('schemas', responseName(walk.operation), envelope);
}

/** Types of the graph that have another name in the REST contract. */
const renamed: Readonly<Record<string, string>> = {
  StockBar: 'Bar',
  Symbol: 'RegistryEntry',
  RankedPrint: 'EodPrint',
  // Generators name the parameter `basis` of the route GexReferenceBasis.
  GexReferenceBasis: 'ReferenceBasis',
};

/** Selections of a type that differ from the usual schema of that name, by operation and type. */
const ofOperation: Readonly<Record<string, string>> = {
  'GexGrid GexStrike': 'GexGridStrike',
  'GexReference GexStrike': 'GexReferenceStrike',
  'StreamGex GexStrike': 'GexUpdateStrike',
  'StreamGex GexCapture': 'GexUpdate',
  'GexChange GexCapture': 'ComparedGexCapture',
  'OffExchangeActivity OffExchangeMeta': 'OffExchangeActivityMeta',
  'Spot PlainMeta': 'SpotMeta',
};

/** The schema name of an operation's selection of a type: stable, and one per shape. */
function schemaName(operation: string, type: string): string {
  return ofOperation[`${operation} ${type}`] ?? enumName(type);
}

function enumName(type: string): string {
  return renamed[type] ?? type;
}

/** The name of the schema of an operation's whole answer. Operations with the same answer share it. */
function responseName(operation: string): string {
  const [, what] = /^(?:Create|Replace|Patch)(Journal\w+)$/.exec(operation) ?? [];
  if (/^DeleteJournal/.test(operation)) return 'DeletedFromJournalResponse';
  if (operation === 'ScreenResult') return 'ScreenResponse';
  return `${what ?? operation}Response`;
}
