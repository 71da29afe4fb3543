import { Readable } from 'node:stream';
import type { Plugin } from 'graphql-yoga';
import { jsonBuffers, stringified, WrittenJson } from '../../wire/json-chunks.ts';

/** Answers up to this length are sent as one buffer: copying them takes less than sending them piece by piece. */
const joinedBytes = 1024 * 1024;

/**
 * Sends answers whose data is written already, with what stands beside it: errors first, as they are looked for first.
 * What is large is sent piece by piece: as one buffer it would be in memory twice. All else of the response is Yoga's.
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
