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
import { yieldToEventLoop } from '../../platform/runtime/event-loop.ts';
import { clipped, shownValue } from '../../platform/wire/printed-value.ts';

/** Maximum number of reported errors of all variables together. */
const mostErrors = 5;
/** Maximum number of characters of a type's reason for rejecting a value. */
const reasonCharacters = 400;
/** Number of list items coerced without a yield: about half a millisecond of work. */
const itemsPerYield = 500;
/** Sizes, in values and characters, from which only one error is reported: building it takes long. */
const large = { values: 50, characters: 2000 };

/** Coerced variables, or the errors in them. */
export type CoercedVariables =
  | { coerced: Record<string, unknown>; errors?: undefined }
  | { errors: readonly GraphQLError[]; coerced?: undefined };

/** Thrown to stop reading a variable. */
class Enough extends Error {}

/** True if a value has too many values or characters to build several errors of. */
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

  /**
   * Adds an error about a value. Throws `Enough` after the first error of a list or of a large value, and after the
   * last one allowed.
   */
  invalid(node: VariableDefinitionNode, path: readonly (string | number)[], value: unknown, cause: GraphQLError): void {
    const name = node.variable.name.value;
    const at = path.length === 0 ? '' : ` at "${name}${pathText(path)}"`;
    const message = `Variable "$${name}" got invalid value ${shownValue(value)}${at}; ${clipped(cause.message, reasonCharacters)}`;
    this.found.push(new GraphQLError(message, { nodes: node, originalError: cause }));
    if (this.isFull || path.some((key) => typeof key === 'number') || isLarge(value)) throw new Enough();
  }
}

/**
 * Coerces items of a list of scalars or enums, in a third of the time of `coerceInputValue`; null if one is null or
 * invalid.
 */
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

/** Coerces a value; long lists in slices. */
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
 * Coerces the variables of a validated operation. Every endpoint and executor checks variables here.
 *
 * An invalid value costs no more than a few errors: the first one of a list ends the list, at most five are reported,
 * and each repeats at most 200 characters of its value.
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
    // An absent or null value is no larger than the definition.
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
