import { Readable } from 'node:stream';
import type { Plugin } from 'graphql-yoga';
import { isHeavy, jsonParts } from '../../wire/json-bytes.ts';
import { JsonWriter, jsonBuffers, WrittenJson } from '../../wire/json-chunks.ts';

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

/** Answers up to this length are sent as one buffer: copying them takes less than sending them piece by piece. */
const joinedBytes = 1024 * 1024;

/**
 * Sends answers whose data is written already. Writes other large ones in pieces, yielding to the event loop in
 * between. What is large is sent piece by piece: as one buffer it would be in memory twice. Everything else of the
 * response stays Yoga's.
 */
export function largeAnswers(): Plugin {
  return {
    onResultProcess: ({ request, result, resultProcessor, setResultProcessor }) => {
      if (!resultProcessor || Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { data, ...beside } = result as { data?: unknown };
      const isWritten = data instanceof WrittenJson;
      if (!isWritten && !isHeavy(result)) return;
      const isResponseJson = request.headers.get('accept')?.includes('application/graphql-response+json') === true;
      setResultProcessor(
        async (large, fetchApi, mediaType) => {
          const parts = isWritten ? withData(data, beside) : await jsonParts(large);
          const { status, headers } = await resultProcessor({ data: null }, fetchApi, mediaType);
          const length = parts.reduce((sum, part) => sum + part.length, 0);
          headers.set('content-length', String(length));
          const body = length > joinedBytes ? Readable.from(parts) : Buffer.concat(parts);
          return new fetchApi.Response(body as never, { status, headers });
        },
        isResponseJson ? 'application/graphql-response+json' : 'application/json',
      );
    },
  };
}
