import { snakeCase } from '../core/domain/columns.ts';

/** The values of an enum, each with its description: a missing one is a compile error. */
export function enumValues<V extends string>(
  meanings: Readonly<Record<V, string>>,
): { [K in V]: { description: string } } {
  return Object.fromEntries(
    Object.entries<string>(meanings).map(([value, description]) => [value, { description }]),
  ) as { [K in V]: { description: string } };
}

/** As `enumValues`, of values in camelCase: the graph spells them in lower_snake_case. */
export function snakeValues<V extends string>(
  meanings: Readonly<Record<V, string>>,
): Record<string, { value: V; description: string }> {
  const values = Object.entries(meanings) as [V, string][];
  return Object.fromEntries(values.map(([value, description]) => [snakeCase(value), { value, description }]));
}
