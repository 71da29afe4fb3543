import type { ExecutionArgs } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import type { GraphTables } from '../execution/answer-table.ts';
import { type HttpContext, requestError, stateOf } from '../request-state.ts';
import { requestedPath, tableRequest } from '../table-request.ts';

/**
 * Answers requests that accept a media type of tables with a list of the answer. An answer is never partial: one with
 * errors is JSON, without data.
 */
export function tableAnswers(services: EndpointServices, read: GraphTables): Plugin {
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      const state = stateOf(args as never);
      const asked = tableRequest(state.req);
      if (!asked) return;
      const { document, operationName } = args as unknown as ExecutionArgs;
      try {
        asked.table = read(document, operationName, requestedPath(state.req));
      } catch (error) {
        setResultAndStopExecution({ errors: [requestError(services, state, error)] });
      }
    },
    onResultProcess: ({ result, setResult, resultProcessor, setResultProcessor, serverContext }) => {
      const context = serverContext as unknown as HttpContext;
      const asked = tableRequest(context.req);
      if (!asked || !resultProcessor || Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { errors, extensions = {} } = result;
      const { media, table, data } = asked;
      if (errors?.length || !table || !data) {
        setResult({ errors: errors ?? [], extensions });
        return;
      }
      // Its data is the table.
      setResult({ extensions });
      setResultProcessor(async (_result, fetchApi, accepted) => {
        try {
          const most = services.answerLimits.bytes;
          const { bytes, headers } = await table.write(media, { data, extensions, most });
          return new fetchApi.Response(bytes as never, {
            headers: { ...headers, 'content-length': String(bytes.length) },
          });
        } catch (error) {
          return resultProcessor({ errors: [requestError(services, context, error)], extensions }, fetchApi, accepted);
        }
      }, 'application/graphql-response+json');
    },
  };
}
