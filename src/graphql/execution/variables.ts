import {
  coerceInputValue,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLList,
  type GraphQLSchema,
  getNullableType,
  getVariableValues,
  isInputType,
  isLeafType,
  isListType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { yieldToEventLoop } from '../../runtime/event-loop.ts';
import { clipped, shownValue } from '../../wire/printed-value.ts';

/** Errors that are named of all variables together. */
const mostErrors = 5;
/** Characters of what a type says about a value. */
const reasonCharacters = 400;
/** Items of a list that are coerced without a yield: about half a millisecond of work. */
const itemsPerYield = 500;
/** Values, and characters, from which an error about a value is the last: it takes long to make. */
const large = { values: 50, characters: 2000 };

/** Variables as the schema's types read them, or what is wrong with them. */
export type CoercedVariables =
  | { coerced: Record<string, unknown>; errors?: undefined }
  | { errors: readonly GraphQLError[]; coerced?: undefined };

/** Thrown where nothing more is to be read of a variable. */
class Enough extends Error {}

/** True if a value has more values or characters than an error is quickly made of. */
function isLarge(value: unknown): boolean {
  const left = { ...large };
  const counts = (each: unknown): boolean => {
    left.values -= 1;
    if (typeof each === 'string') left.characters -= each.length;
    if (left.values < 0 || left.characters < 0) return true;
    if (typeof each !== 'object' || each === null) return false;
    for (const key in each) {
      left.characters -= key.length;
      if (left.characters < 0 || counts((each as Record<string, unknown>)[key])) return true;
    }
    return false;
  };
  return counts(value);
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${clipped(key, 100)}`)).join('');
}

/** The errors of an operation's variables. */
class VariableErrors {
  readonly found: GraphQLError[] = [];

  get isFull(): boolean {
    return this.found.length >= mostErrors;
  }

  /** Adds an error about a value; throws `Enough` at the first of a list, of a large value, and at the last. */
  invalid(node: VariableDefinitionNode, path: readonly (string | number)[], value: unknown, cause: GraphQLError): void {
    const name = node.variable.name.value;
    const at = path.length === 0 ? '' : ` at "${name}${pathText(path)}"`;
    const message = `Variable "$${name}" got invalid value ${shownValue(value)}${at}; ${clipped(cause.message, reasonCharacters)}`;
    this.found.push(new GraphQLError(message, { nodes: node, originalError: cause }));
    if (this.isFull || path.some((key) => typeof key === 'number') || isLarge(value)) throw new Enough();
  }
}

/** Items of a list of scalars or enums, in a third of the time of `coerceInputValue`; null if one is null or wrong. */
function coerceLeaves(list: GraphQLList<GraphQLInputType>, items: readonly unknown[]): unknown[] | null {
  const type = getNullableType(list.ofType);
  if (!isLeafType(type)) return null;
  try {
    const read = items.map((item) => (item == null ? undefined : type.parseValue(item)));
    return read.includes(undefined) ? null : read;
  } catch {
    return null;
  }
}

/** Reads a value; long lists in pieces. */
async function coerceValue(
  node: VariableDefinitionNode,
  type: GraphQLInputType,
  value: unknown,
  errors: VariableErrors,
): Promise<unknown> {
  const nullable = getNullableType(type);
  if (!isListType(nullable) || !Array.isArray(value) || value.length <= itemsPerYield)
    return coerceInputValue(value, type, (path, wrong, error) => errors.invalid(node, path, wrong, error));
  const items: unknown[] = [];
  for (let start = 0; start < value.length; start += itemsPerYield) {
    await yieldToEventLoop();
    const sent = value.slice(start, start + itemsPerYield);
    const read =
      coerceLeaves(nullable, sent) ??
      coerceInputValue(sent, nullable, (path, wrong, error) => {
        const [index, ...below] = path;
        errors.invalid(node, typeof index === 'number' ? [start + index, ...below] : path, wrong, error);
      });
    for (const item of read as unknown[]) items.push(item);
  }
  return items;
}

/**
 * Reads the variables of a validated operation: the one place where what was sent is held against the schema, for every
 * endpoint and executor.
 *
 * A wrong value costs no more than a few errors: the first one of a list ends the list, at most five are named, and
 * each repeats at most 200 characters of its value.
 */
export async function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  sent: Readonly<Record<string, unknown>>,
): Promise<CoercedVariables> {
  const coerced: Record<string, unknown> = {};
  const errors = new VariableErrors();
  for (const node of variableDefinitions) {
    if (errors.isFull) break;
    const name = node.variable.name.value;
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    const type = typeFromAST(schema, node.type as never) as GraphQLInputType | undefined;
    // A value that is absent or null is no more than the definition says.
    if (value === undefined || value === null || !isInputType(type)) {
      const read = getVariableValues(schema, [node], value === null ? { [name]: null } : {});
      if (read.errors) errors.found.push(...read.errors);
      else Object.assign(coerced, read.coerced);
      continue;
    }
    try {
      coerced[name] = await coerceValue(node, type, value, errors);
    } catch (error) {
      if (!(error instanceof Enough)) throw error;
    }
  }
  return errors.found.length > 0 ? { errors: errors.found } : { coerced };
}
