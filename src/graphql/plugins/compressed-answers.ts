import type { Request } from 'express';
import type { Plugin } from 'graphql-yoga';
import { encode, encodingFor } from '../../platform/http/compression.ts';
import { jsonLines, tableTypes } from '../../platform/wire/table-types.ts';

/** Media types of answers that are worth it; Parquet is compressed in itself. */
const compressible = new RegExp(
  `^(application/(graphql-response\\+)?json\\b|${[tableTypes.csv, tableTypes.arrow, tableTypes.ndjson, jsonLines].join('|')})`,
);

/**
 * Compresses answers for clients that accept it, as REST does. Event streams are not compressed: each event is sent
 * immediately.
 */
export function compressedAnswers(): Plugin {
  return {
    onResponse: async ({ request, response, setResponse, serverContext, fetchAPI }) => {
      // An answer that is read within the process is not encoded, even if the enclosing request accepts an encoding.
      if (!request.headers.has('accept-encoding') || !compressible.test(response.headers.get('content-type') ?? ''))
        return;
      const bytes = new Uint8Array(await response.arrayBuffer());
      const { req: client } = serverContext as unknown as { req: Request };
      const encoding = encodingFor(bytes.length, (known) => client.acceptsEncodings([...known]));
      const headers = new fetchAPI.Headers(response.headers);
      if (encoding !== null) headers.set('content-encoding', encoding);
      const body = encoding === null ? bytes : await encode(bytes, encoding);
      headers.set('content-length', String(body.length));
      setResponse(new fetchAPI.Response(body, { status: response.status, headers }));
    },
  };
}
