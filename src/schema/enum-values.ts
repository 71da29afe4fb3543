/** The values of an enum, each with its description: a missing one is a compile error. */
export function enumValues<V extends string>(
  meanings: Readonly<Record<V, string>>,
): { [K in V]: { description: string } } {
  return Object.fromEntries(
    Object.entries<string>(meanings).map(([value, description]) => [value, { description }]),
  ) as { [K in V]: { description: string } };
}
