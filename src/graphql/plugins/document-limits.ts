import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { hasCredential } from '../../access/identity/credential.ts';
import { unauthenticated } from '../../platform/wire/failure.ts';
import { parseWithinLimits, validationErrors } from '../limits/checked-document.ts';
import { requestErrorOf } from '../request-error.ts';
import type { OperationState } from '../request-state.ts';
import { isIntrospectionOnly } from '../scope-groups.ts';
import type { TrustedDocuments } from '../trusted-documents.ts';

/**
 * Bounds parsing and validation. A document that reads more than the schema requires a credential: without one it is
 * rejected before any further work.
 */
export function documentBounds(
  isStandardIntrospection: (document: DocumentNode) => boolean,
  trusted: TrustedDocuments,
): Plugin {
  return {
    onParse: ({ params: { source }, setParseFn }) => {
      trusted.require(String(source));
      setParseFn(parseWithinLimits);
    },
    onValidate: ({ params: { documentAST }, context, setResult, setValidationFn }) => {
      const document = documentAST as DocumentNode;
      const { req, params } = context as unknown as OperationState;
      if (isStandardIntrospection(document)) return setResult([]);
      // Thrown instead of returned: validation results are cached for all callers.
      if (!hasCredential(req.headers) && !isIntrospectionOnly(document, params.operationName))
        throw requestErrorOf(unauthenticated());
      setValidationFn(validationErrors);
    },
  };
}
