import {
  type DocumentNode,
  type FieldNode,
  type GraphQLInterfaceType,
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
} from 'graphql';
import { absentInCaps, absentInMeta } from './envelope.ts';
import type { ReadOperation, StoredOperation } from './operation.ts';
import type { Route } from './route.ts';

/** A JSON Schema, 2020-12. */
export type JsonSchema = Record<string, unknown>;
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
  CountsByName: { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } },
};

interface Walk {
  schema: GraphQLSchema;
  document: DocumentNode;
  /** Keys that are absent instead of null. */
  absent: ReadonlySet<string>;
}

function typeSchema(walk: Walk, type: GraphQLOutputType, selection: SelectionSetNode | undefined): JsonSchema {
  const nullable = !isNonNullType(type);
  const inner = getNullableType(type);
  const described = isListType(inner)
    ? { type: 'array', items: typeSchema(walk, inner.ofType, selection) }
    : (isObjectType(inner) || isInterfaceType(inner)) && selection
      ? objectSchema(walk, inner, selection)
      : isEnumType(inner)
        ? { type: 'string', enum: inner.getValues().map((value) => value.name) }
        : { ...(scalarSchemas[String(inner)] ?? { type: 'string' }) };
  return nullable ? orNull(described) : described;
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

/** The fields a selection asks of a type, fragments followed; those of a fragment on another type come and go with the row. */
function selectedFields(
  walk: Walk,
  type: FieldsType,
  selection: SelectionSetNode,
): { node: FieldNode; of: FieldsType; conditional: boolean }[] {
  return selection.selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return [{ node, of: type, conditional: (node.directives?.length ?? 0) > 0 }];
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      const set = fragmentSelection(walk.document, node.name.value);
      return set ? selectedFields(walk, type, set) : [];
    }
    const on = node.typeCondition ? (walk.schema.getType(node.typeCondition.name.value) as FieldsType) : type;
    const fields = selectedFields(walk, on, node.selectionSet);
    return on === type ? fields : fields.map((field) => ({ ...field, conditional: true }));
  });
}

function objectSchema(walk: Walk, type: FieldsType, selection: SelectionSetNode): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const { node, of, conditional } of selectedFields(walk, type, selection)) {
    const field = of.getFields()[node.name.value]!;
    const key = node.alias?.value ?? node.name.value;
    properties[key] = {
      ...typeSchema(walk, field.type, node.selectionSet),
      ...(field.description ? { description: field.description } : {}),
    };
    if (!conditional && !walk.absent.has(key)) required.push(key);
  }
  return { type: 'object', properties, required };
}

/** The JSON Schema of what an operation's only field `data` gives. */
export function dataSchema(schema: GraphQLSchema, { document, definition }: ReadOperation): JsonSchema {
  const walk = { schema, document, absent: new Set<string>() };
  const type = schema.getRootType(definition.operation)!;
  return (objectSchema(walk, type, definition.selectionSet).properties as Record<string, JsonSchema>).data!;
}

/** The JSON Schema of a route's answer, from the types of the fields its operation selects. */
export function answerSchema(schema: GraphQLSchema, route: Route, operation: StoredOperation): JsonSchema {
  const definition = operation.document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )!;
  let type = schema.getRootType(definition.operation)!;
  let selection = definition.selectionSet;
  const walk = {
    schema,
    document: operation.document,
    absent: new Set([...absentInMeta, ...absentInCaps, ...route.absent]),
  };
  for (const key of route.answer === '' ? [] : route.answer.split('.')) {
    const { node } = selectedFields(walk, type, selection).find(
      ({ node }) => (node.alias?.value ?? node.name.value) === key,
    )!;
    type = getNullableType(type.getFields()[node.name.value]!.type) as GraphQLObjectType;
    selection = node.selectionSet!;
  }
  const { properties, required } = objectSchema(walk, type, selection) as {
    properties: Record<string, JsonSchema>;
    required: string[];
  };
  const { meta, ...payload } = properties;
  const data = payload.data ?? {
    type: 'object',
    properties: payload,
    required: required.filter((key) => key !== 'meta'),
  };
  return { type: 'object', properties: { data, meta }, required: ['data', 'meta'] };
}
