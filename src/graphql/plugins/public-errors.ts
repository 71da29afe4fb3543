import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { boundedErrors, tooManyErrors } from '../error-bounds.ts';
import { publicError } from '../errors.ts';
import { documentLimits } from '../limits/document-limits.ts';
import { sentPoints } from '../limits/sent-points.ts';
import { requestsOf } from '../limits/weight.ts';
import { requestErrorWithin } from '../request-error.ts';
import { type HttpContext, type OperationState, requestError } from '../request-state.ts';

/** State of the operation that its errors depend on. */
type ErrorContext = HttpContext & Pick<OperationState, 'answerBytes' | 'sentPoints'>;

/**
 * The errors of an answer in public form, each with a code of the contract. A request that failed before it was charged
 * is charged for its body here; if that exceeds the caller's minute, 429 is the only error.
 */
export async function publicErrors(
  services: EndpointServices,
  context: ErrorContext,
  errors: readonly unknown[],
  hasData: boolean,
): Promise<{ errors: GraphQLError[]; isRejected: boolean }> {
  const { req, res, answerBytes = documentLimits.answerBytes } = context;
  const rejected = await services.admission.chargeRejected(req, res, requestsOf(sentPoints(context))).then(
    () => null,
    (error: unknown) => requestError(services, { req, res }, error),
  );
  const shown = (rejected ? [rejected] : errors).map(
    (error) => requestErrorWithin(error) ?? publicError(error, (failure) => services.report(req, failure), hasData),
  );
  const bounded = boundedErrors(shown, hasData && !rejected, answerBytes);
  const sent = bounded ?? [tooManyErrors(answerBytes)];
  services.note(req, { code: String(sent[0]!.extensions.code) });
  return { errors: sent, isRejected: rejected !== null || bounded === null };
}

/** Gives every error of an answer its public form. */
export function errorCodes(services: EndpointServices): Plugin {
  return {
    onResultProcess: async ({ result, setResult, serverContext }) => {
      if (Array.isArray(result) || Symbol.asyncIterator in result || !result.errors?.length) return;
      const context = serverContext as unknown as HttpContext;
      const { errors, isRejected } = await publicErrors(services, context, result.errors, 'data' in result);
      setResult(isRejected ? { errors } : { ...result, errors });
    },
  };
}
