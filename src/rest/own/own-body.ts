import {
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { z } from 'zod';
import { type BodyReader, objectBody } from '../contract/body.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import type { OwnParameter } from './own-parameter.ts';

const scalars: Readonly<Record<string, JsonSchema>> = {
  Int: { type: 'integer', format: 'int32' },
  Long: { type: 'integer', format: 'int64' },
  EpochMs: { type: 'integer', format: 'int64' },
  StrikeThousandths: { type: 'integer', format: 'int64' },
  Float: { type: 'number', format: 'double' },
  Boolean: { type: 'boolean' },
};

/** Nesting of objects that is described; deeper ones are plain objects. */
const deepest = 3;

function inputSchema(type: GraphQLInputType, depth = 0): JsonSchema {
  const inner = getNullableType(type) as GraphQLInputType;
  if (isListType(inner)) return { type: 'array', items: inputSchema(inner.ofType, depth) };
  if (isEnumType(inner)) return { type: 'string', enum: inner.getValues().map(({ name }) => name) };
  if (!isInputObjectType(inner)) return scalars[String(inner)] ?? { type: 'string' };
  if (depth === deepest) return { type: 'object' };
  const fields = Object.values(inner.getFields());
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [
        field.name,
        { ...inputSchema(field.type, depth + 1), ...(field.description && { description: field.description }) },
      ]),
    ),
    required: fields
      .filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined)
      .map(({ name }) => name),
  };
}

/** A value of the type, for the example of a body. */
function sample(type: GraphQLInputType, example: string): unknown {
  const inner = getNullableType(type) as GraphQLInputType;
  if (isListType(inner)) return example.split(',').map((each) => sample(inner.ofType, each));
  if (isInputObjectType(inner)) return example.startsWith('{') ? JSON.parse(example) : {};
  if (inner.toString() === 'Boolean') return example === 'true';
  return ['integer', 'number'].includes(String(inputSchema(inner).type)) ? Number(example) : example;
}

/** A JSON object with the parameters that are in the body; the operation checks their values. */
export function ownBody(name: string, parameters: readonly OwnParameter[]): { reader: BodyReader; example: string } {
  const required = parameters.filter(({ isRequired }) => isRequired);
  const shown = Object.fromEntries(required.map(({ name, type, example }) => [name, sample(type, example)]));
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, type, description }) => [
        name,
        { ...inputSchema(type), ...(description && { description }) },
      ]),
    ),
    required: required.map(({ name }) => name),
  };
  const reader = objectBody(z.object({}), { name: `${name}Input`, example: shown });
  return { reader: { ...reader, schema, required: required.length > 0 }, example: JSON.stringify(shown) };
}
