import type { GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { publicError } from '../errors.ts';
import { requestErrorWithin } from '../request-error.ts';
import { type HttpContext, requestError } from '../request-state.ts';

/**
 * The errors of an answer as clients see them, each with a code of the contract. A request that failed before it was
 * charged is charged 1 here; when nothing is left of the caller's minute, that is the one error.
 */
export async function publicErrors(
  services: EndpointServices,
  { req, res }: HttpContext,
  errors: readonly unknown[],
  hasData: boolean,
): Promise<{ errors: GraphQLError[]; isRejected: boolean }> {
  const rejected = await services.admission.chargeRejected(req, res).then(
    () => null,
    (error: unknown) => requestError(services, { req, res }, error),
  );
  const shown = (rejected ? [rejected] : errors).map(
    (error) => requestErrorWithin(error) ?? publicError(error, (failure) => services.report(req, failure), hasData),
  );
  services.note(req, { code: String(shown[0]!.extensions.code) });
  return { errors: shown, isRejected: rejected !== null };
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
