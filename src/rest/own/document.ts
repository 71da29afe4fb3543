import {
  type DocumentNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql';
import { parseWithinLimits, validationErrors } from '../../graphql/limits/checked-document.ts';
import { FileProblem } from './problems.ts';
import type { SourceFile } from './route-files.ts';
import type { RouteSettings } from './settings.ts';

/** A validated document of one operation. */
export interface OwnDocument {
  document: DocumentNode;
  definition: OperationDefinitionNode;
}

function soleOperation({ definitions }: DocumentNode): OperationDefinitionNode {
  const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (operations.length !== 1)
    throw new FileProblem(
      `expected one operation, found ${operations.length}`,
      operations[1]?.loc?.startToken.line ?? 1,
    );
  return operations[0]!;
}

/** Throws for a field of introspection, in the operation or in a fragment. */
function requireNoIntrospection(document: DocumentNode): void {
  visit(document, {
    Field({ name: { value }, loc }) {
      if (value === '__schema' || value === '__type')
        throw new FileProblem(
          `${value}: introspection is no route; it is public at /graphql`,
          loc?.startToken.line ?? null,
        );
    },
  });
}

/** Requires a method that suits the kind of the operation: what changes something is never a GET. */
function requireMethod({ operation }: OperationDefinitionNode, { method }: RouteSettings): void {
  if (operation === OperationTypeNode.MUTATION && method === 'GET')
    throw new FileProblem('a mutation needs a "method" of POST, PUT, PATCH or DELETE in the .json file', 1);
  if (operation === OperationTypeNode.SUBSCRIPTION && method !== 'GET')
    throw new FileProblem(`a subscription is a stream, which is read by GET; "method" is ${method}`, 1);
  if (operation === OperationTypeNode.QUERY && !['GET', 'POST'].includes(method))
    throw new FileProblem(`a query is read by GET or POST; "method" is ${method}`, 1);
}

/** Parses and validates a document. Throws the problems in it, each with its line. */
export function readDocument(schema: GraphQLSchema, { text }: SourceFile): DocumentNode {
  const document = parseWithinLimits(text);
  const errors = validationErrors(schema, document);
  if (errors.length > 0) throw new AggregateError(errors);
  return document;
}

/** Reads the document of a route. Throws the problems in it. */
export function readOwnDocument(schema: GraphQLSchema, file: SourceFile, settings: RouteSettings): OwnDocument {
  const document = readDocument(schema, file);
  const definition = soleOperation(document);
  requireNoIntrospection(document);
  requireMethod(definition, settings);
  return { document, definition };
}

/** The comment that a document begins with, as one text; empty if there is none. */
export function leadingComment({ text }: SourceFile): string {
  const [comment = ''] = /^(?:\s*#.*(?:\r?\n|$))+/.exec(text.replace(/^\uFEFF/, '')) ?? [];
  return comment
    .replace(/^\s*#\s?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}
