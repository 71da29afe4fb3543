import { type ASTNode, GraphQLError, Kind, type ValidationRule } from 'graphql';
import { isStorableText, storableText } from '../../platform/runtime/storable-text.ts';
import { invalidParameter } from '../../platform/wire/failure.ts';
import { nestsDeeper } from '../../platform/wire/stored-text.ts';

/** Maximum nesting of brackets in a document: the parser recurses into each. */
const deepestBrackets = 100;

function invalid(message: string, details?: object, node?: ASTNode): GraphQLError {
  return new GraphQLError(message, {
    nodes: node ?? null,
    extensions: { code: 'invalid_params', ...(details ? { details } : {}) },
  });
}

/** Name of the argument or input field that a value in the document belongs to. */
function parameterOf(ancestors: readonly (ASTNode | readonly ASTNode[])[]): string {
  for (const node of ancestors.toReversed()) {
    if ('kind' in node && (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD)) return node.name.value;
  }
  return 'query';
}

/** A validation rule: strings in the document can be stored. */
export const storableTexts: ValidationRule = (context) => ({
  StringValue(node, _key, parent, _path, ancestors) {
    if (isStorableText(node.value)) return;
    const { message, details } = invalidParameter(
      parameterOf(parent ? [...ancestors, parent] : ancestors),
      `expected ${storableText}`,
    );
    context.reportError(invalid(message, details, node));
  },
});

/** Throws 400 for a document whose brackets are nested too deep. */
export function requireShallow(source: string): void {
  if (nestsDeeper(source, deepestBrackets))
    throw invalid(`The document has brackets nested more than ${deepestBrackets} deep.`);
}
