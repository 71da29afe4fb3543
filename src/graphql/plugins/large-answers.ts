import type { Plugin } from 'graphql-yoga';
import { isHeavy, joined, jsonBytes } from '../../runtime/json-bytes.ts';
import { JsonWriter, jsonBuffers, WrittenJson } from '../../runtime/json-parts.ts';

/** An answer whose data has been written already, with what stands beside it: errors first, as they are looked for first. */
function withData(data: WrittenJson, { errors, ...rest }: { errors?: unknown }): Promise<Buffer<ArrayBuffer>> {
  const writer = new JsonWriter(() => {});
  writer.text('{');
  if (errors !== undefined) writer.text(`"errors":${JSON.stringify(errors)},`);
  writer.text('"data":');
  writer.value(data);
  const others = JSON.stringify(rest).slice(1);
  writer.text(others === '}' ? '}' : `,${others}`);
  return joined(jsonBuffers(writer.done()));
}

/** Writes large answers in pieces, yielding to the event loop in between; everything else of the response stays Yoga's. */
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
          const bytes = isWritten ? await withData(data, beside) : await jsonBytes(large);
          const { status, headers } = await resultProcessor({ data: null }, fetchApi, mediaType);
          headers.delete('content-length');
          return new fetchApi.Response(bytes, { status, headers });
        },
        isResponseJson ? 'application/graphql-response+json' : 'application/json',
      );
    },
  };
}
