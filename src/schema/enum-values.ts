/** The values of an enum, each with its meaning: leaving one out does not compile. */
export function enumValues<V extends string>(
  meanings: Readonly<Record<V, string>>,
): { [K in V]: { description: string } } {
  return Object.fromEntries(
    Object.entries<string>(meanings).map(([value, description]) => [value, { description }]),
  ) as { [K in V]: { description: string } };
}
