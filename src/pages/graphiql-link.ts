/** Address of GraphiQL with an operation and its variables filled in. */
export function graphiqlLink(query: string, variables?: Record<string, unknown>): string {
  const given = variables && Object.keys(variables).length > 0 ? { variables: JSON.stringify(variables, null, 2) } : {};
  return `/graphql?${new URLSearchParams({ query, ...given })}`;
}
