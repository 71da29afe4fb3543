import { Readable } from 'node:stream';
import type { Plugin } from 'graphql-yoga';
import { jsonBuffers, stringified, WrittenJson } from '../../platform/wire/json-chunks.ts';

/** Answers up to this length are sent as one buffer: copying them is faster than several writes. */
const joinedBytes = 1024 * 1024;

/**
 * Sends answers whose data is already written, with the errors first, where readers look first. A large answer is sent
 * in chunks: one buffer would double its memory. The rest of the response is Yoga's.
 */
export function largeAnswers(): Plugin {
  return {
    onResultProcess: ({ request, result, resultProcessor, setResultProcessor }) => {
      if (!resultProcessor || Array.isArray(result) || Symbol.asyncIterator in result) return;
      const { data, errors, ...beside } = result as { data?: unknown; errors?: unknown };
      if (!(data instanceof WrittenJson)) return;
      const isResponseJson = request.headers.get('accept')?.includes('application/graphql-response+json') === true;
      setResultProcessor(
        async (_result, fetchApi, mediaType) => {
          const parts = jsonBuffers({ parts: stringified({ errors, data, ...beside }) });
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
