import { Readable } from 'node:stream';
import type { Plugin } from 'graphql-yoga';
import { isHeavy, jsonParts } from '../../runtime/json-bytes.ts';
import { JsonWriter, jsonBuffers, WrittenJson } from '../../runtime/json-parts.ts';

/**
 * An answer whose data has been written already, with what stands beside it: errors first, as they are looked for
 * first.
 */
function withData(data: WrittenJson, { errors, ...rest }: { errors?: unknown }): Buffer[] {
  const writer = new JsonWriter(() => {});
  writer.text('{');
  if (errors !== undefined) writer.text(`"errors":${JSON.stringify(errors)},`);
  writer.text('"data":');
  writer.value(data);
  const others = JSON.stringify(rest).slice(1);
  writer.text(others === '}' ? '}' : `,${others}`);
  return jsonBuffers(writer.done());
}

/**
 * Writes large answers in pieces, yielding to the event loop in between, and sends them piece by piece: as one buffer
 * they would be in memory twice. Everything else of the response stays Yoga's.
 */
export function largeAnswers(): Plugin {
  return {
    onResultProcess: ({ request, result, resultProcessor, setResultProcessor }) => {
      if (!resultProcessor || Array.isArray(result) || Symbol.asyncIterator in result) return;
      // What has been written already was not heavy.
      const { data, ...beside } = result as { data?: unknown };
      const isWritten = data instanceof WrittenJson;
      if ('stringify' in result || !(isWritten || isHeavy(result))) return;
      const isResponseJson = request.headers.get('accept')?.includes('application/graphql-response+json') === true;
      setResultProcessor(
        async (large, fetchApi, mediaType) => {
          const parts = isWritten ? withData(data, beside) : await jsonParts(large);
          const { status, headers } = await resultProcessor({ data: null }, fetchApi, mediaType);
          headers.set('content-length', String(parts.reduce((sum, part) => sum + part.length, 0)));
          return new fetchApi.Response(Readable.from(parts) as never, { status, headers });
        },
        isResponseJson ? 'application/graphql-response+json' : 'application/json',
      );
    },
  };
}
