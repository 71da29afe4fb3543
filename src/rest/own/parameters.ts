import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { z } from 'zod';
import { type Failure, invalidParameter } from '../../platform/wire/failure.ts';
import { type BodyReader, objectBody } from '../contract/body.ts';
import { filledIn } from '../contract/example.ts';
import type { JsonSchema } from '../contract/json-schema.ts';
import type { Param, Params } from '../contract/params.ts';
import {
  accepts,
  listReader,
  namedReader,
  parameterName,
  type ScalarReader,
  variableReader,
} from '../contract/variable-readers.ts';
import { FileProblem, SettingProblem } from './problems.ts';

import type { ParameterSettings, RouteSettings } from './settings.ts';

/** The requests of a route: where each variable comes from. */
export interface OwnParameters {
  /** Parameters of the path and of the query. */
  params: Params;
  body: BodyReader | undefined;
  variableOf: Record<string, string>;
  variables: (values: Record<string, unknown>, body: unknown) => Record<string, unknown>;
  invalidVariables: (variables: Readonly<Record<string, unknown>>, problem: string) => Failure | null;
  example: { params: Record<string, string>; body?: string };
}

/** A variable of the operation as a parameter of the route. */
interface OwnParameter extends ScalarReader {
  name: string;
  variable: string;
  type: GraphQLInputType;
  isRequired: boolean;
  description: string | undefined;
}

/** Names of parameters that have a meaning of their own. */
const reserved = ['table', 'body', 'max_items', 'protobuf', 'provenance'];

/** Values for the braces of examples, with which readers are tried. */
const tried = { symbol: 'SPY', contract: 'O:SPY261218C00640000', previous: '2026-11-19' };

function described({ reader }: ScalarReader, { description, example }: ParameterSettings): Param {
  if (!description && !example) return reader;
  return reader.meta({ ...reader.meta(), ...(description && { description }), ...(example && { example }) });
}

/** The name and the settings of a variable's parameter. */
function settingsOf(variable: string, { parameters }: RouteSettings): [string, ParameterSettings] {
  const named = Object.entries(parameters).filter(([name, own]) => (own.variable ?? name) === variable);
  if (named.length > 1)
    throw new SettingProblem('parameters', `${named.map(([name]) => name).join(' and ')} both set $${variable}`);
  return named[0] ?? [parameterName(variable), parameters[parameterName(variable)] ?? {}];
}

function parameterOf(schema: GraphQLSchema, node: VariableDefinitionNode, settings: RouteSettings): OwnParameter {
  const variable = node.variable.name.value;
  const line = node.loc?.startToken.line ?? null;
  const type = typeFromAST(schema, node.type as never) as GraphQLInputType;
  const [name, own] = settingsOf(variable, settings);
  if (reserved.includes(name) || name in {})
    throw new FileProblem(`$${variable}: ${name} is no name for a parameter; give it another in parameters`, line);
  const isList = isListType(getNullableType(type));
  const given = own.type && (isList ? listReader(namedReader(own.type)) : namedReader(own.type));
  const found = given ?? variableReader(type);
  const example = own.example ?? found.example;
  if (!accepts(found.reader, filledIn(example, tried)))
    throw new SettingProblem(`parameters.${name}.example`, `${JSON.stringify(example)} is not a value of it`);
  const isRequired = isNonNullType(type) && !node.defaultValue;
  return { name, variable, type, isRequired, example, reader: described(found, own), description: own.description };
}

/** Requires that every parameter of the settings belongs to a variable. */
function requireKnown({ parameters }: RouteSettings, found: readonly OwnParameter[]): void {
  const unknown = Object.keys(parameters).find((name) => !found.some((each) => each.name === name));
  if (unknown === undefined) return;
  const variable = parameters[unknown]!.variable ?? unknown;
  throw new SettingProblem(`parameters.${unknown}`, `the operation has no variable $${variable} for it`);
}

function requireDistinct(found: readonly OwnParameter[]): void {
  const twice = found.find(({ name }, index) => found.findIndex((each) => each.name === name) < index);
  if (twice) throw new SettingProblem(`parameters.${twice.name}`, `two variables have this name; give one another`);
}

/** Requires that each parameter of the path is a single required value. */
function requireInPath(inPath: readonly string[], found: readonly OwnParameter[]): void {
  for (const name of inPath) {
    const known = found.find((each) => each.name === name);
    if (!known) throw new SettingProblem('path', `the operation has no variable for {${name}}`);
    if (!known.isRequired)
      throw new SettingProblem('path', `{${name}} must be a variable that is required, such as Ticker!`);
    if (isInputObjectType(getNamedType(known.type))) throw new SettingProblem('path', `{${name}} is an object`);
  }
}

const problemForm =
  /^Variable "\$(\w+)" (?:of required type .* was not provided\.|of non-null type .* must not be null\.)?/;

/** The 400 of a variable that its type rejects, by the name of its parameter. */
function invalidOf(found: readonly OwnParameter[]) {
  return (_variables: unknown, problem: string): Failure | null => {
    const [whole, variable] = problemForm.exec(problem) ?? [];
    const parameter = found.find((each) => each.variable === variable);
    if (!parameter || whole === undefined) return null;
    return invalidParameter(parameter.name, problem.slice(whole.length) || 'is required');
  };
}

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
function ownBody(name: string, parameters: readonly OwnParameter[]): { reader: BodyReader; example: string } {
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

/** Names of the variables that a route sets itself: every operation may ask for its provenance. */
const ownVariables = ['provenance'];

/** Makes parameters of an operation's variables. `inPath` are those of the path; the others are in query or body. */
export function ownParameters(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  settings: RouteSettings,
  { inPath, name }: { inPath: readonly string[]; name: string },
): OwnParameters {
  const asked = variableDefinitions.filter(({ variable }) => !ownVariables.includes(variable.name.value));
  const found = asked.map((node) => parameterOf(schema, node, settings));
  requireKnown(settings, found);
  requireDistinct(found);
  requireInPath(inPath, found);
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(settings.method);
  const inBody = hasBody ? found.filter((each) => !inPath.includes(each.name)) : [];
  const inAddress = found.filter((each) => !inBody.includes(each));
  const body = inBody.length > 0 ? ownBody(name, inBody) : undefined;
  const shown = inAddress.filter((each) => each.isRequired || settings.parameters[each.name]?.example !== undefined);
  return {
    params: Object.fromEntries(
      inAddress.map(({ name, reader, isRequired }) => [name, isRequired ? reader : reader.optional()]),
    ),
    body: body?.reader,
    variableOf: Object.fromEntries(found.map(({ name, variable }) => [name, variable])),
    variables(values, sent) {
      const from = { ...(sent as object), ...values };
      const given = found.filter(({ name }) => Object.hasOwn(from, name));
      return Object.fromEntries(given.map(({ name, variable }) => [variable, from[name as never]]));
    },
    invalidVariables: invalidOf(found),
    example: {
      params: Object.fromEntries(shown.map(({ name, example }) => [name, example])),
      ...(body && { body: body.example }),
    },
  };
}
