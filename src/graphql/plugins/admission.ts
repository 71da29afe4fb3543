import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { requestLife } from '../../platform/http/request-life.ts';
import { admitAnonymous, admitOperation } from '../admit-operation.ts';
import { sentPoints } from '../limits/sent-points.ts';
import type { OperationWeights } from '../limits/weighed-operation.ts';
import { requestError, stateOf } from '../request-state.ts';
import { isIntrospectionOnly, isTypenameOnly } from '../scope-groups.ts';

/**
 * Admits every operation before it runs, and counts its usage afterwards. Introspection requires no credential: without
 * one it is charged to the client's address. `{ __typename }`, which tools send as a health check, is free unless its
 * body is large.
 */
export function operationAdmission(services: EndpointServices, weigh: OperationWeights): Plugin {
  return {
    onExecute: async ({ args, setResultAndStopExecution }) => {
      const given = args as unknown as ExecutionArgs;
      const { document, operationName } = given;
      const state = stateOf(given);
      if (isTypenameOnly(document, operationName) && sentPoints(state) === 0) return;
      const life = requestLife(state.res);
      try {
        const isPublic = isIntrospectionOnly(document, operationName);
        if (isPublic && (await services.admission.recognize(state.req)) === null)
          await admitAnonymous(services, weigh, given);
        else await admitOperation(services, weigh, given, life);
      } catch (error) {
        life.end();
        setResultAndStopExecution({ errors: [requestError(services, state, error)] });
        return;
      }
      return {
        onExecuteDone: () => {
          life.end();
          if (state.admitted) services.admission.count(state.admitted.caller, state.admitted.groups);
        },
      };
    },
  };
}
