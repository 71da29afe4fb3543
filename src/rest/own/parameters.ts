import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { type Failure, invalidParameter } from '../../wire/failure.ts';
import type { BodyReader } from '../contract/body.ts';
import { filledIn } from '../contract/example.ts';
import { oneOf, type Param, type Params } from '../contract/params.ts';
import { ownBody } from './own-body.ts';
import type { OwnParameter } from './own-parameter.ts';
import { FileProblem, SettingProblem } from './problems.ts';
import { accepts, jsonReader, listReader, namedReader, type ScalarReader, scalarReader } from './scalar-readers.ts';
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

/** Names of parameters that have a meaning of their own. */
const reserved = ['table', 'body', 'max_items', 'protobuf', 'provenance'];

/** Values for the braces of examples, with which readers are tried. */
const tried = { symbol: 'SPY', contract: 'O:SPY261218C00640000', previous: '2026-11-19' };

const snakeCase = (name: string) => name.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

function readerOf(type: GraphQLInputType): ScalarReader {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const item = getNullableType(nullable.ofType) as GraphQLInputType;
    return isListType(item) || isInputObjectType(item) ? { ...jsonReader, example: '[]' } : listReader(readerOf(item));
  }
  if (isEnumType(nullable)) {
    const values = nullable.getValues().map(({ name }) => name);
    return { reader: oneOf(values as [string, ...string[]]), example: values[0]! };
  }
  return isScalarType(nullable) ? scalarReader(nullable.name) : jsonReader;
}

function described({ reader }: ScalarReader, { description, example }: ParameterSettings): Param {
  if (!description && !example) return reader;
  return reader.meta({ ...reader.meta(), ...(description && { description }), ...(example && { example }) });
}

/** The name and the settings of a variable's parameter. */
function settingsOf(variable: string, { parameters }: RouteSettings): [string, ParameterSettings] {
  const named = Object.entries(parameters).filter(([name, own]) => (own.variable ?? name) === variable);
  if (named.length > 1)
    throw new SettingProblem('parameters', `${named.map(([name]) => name).join(' and ')} both set $${variable}`);
  return named[0] ?? [snakeCase(variable), parameters[snakeCase(variable)] ?? {}];
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
  const found = given ?? readerOf(type);
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
