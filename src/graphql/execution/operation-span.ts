import { type DocumentNode, getOperationAST } from 'graphql';

/**
 * A span's name and attributes by the semantic conventions of OpenTelemetry for GraphQL. The document is not included:
 * it is long.
 */
export function operationSpan(
  document: DocumentNode,
  operationName?: string | null,
): [name: string, attributes: Record<string, string>] {
  const found = getOperationAST(document, operationName);
  if (!found) return ['GraphQL Operation', {}];
  const name = found.name?.value;
  return [
    found.operation,
    { 'graphql.operation.type': found.operation, ...(name !== undefined && { 'graphql.operation.name': name }) },
  ];
}
