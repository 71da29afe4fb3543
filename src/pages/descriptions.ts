import { type Request, type Response, Router } from 'express';
import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { allowSharedCaching } from '../http/cache-headers.ts';
import { asyncApi } from '../rest/asyncapi.ts';
import { sendBody } from '../rest/http/respond.ts';
import type { CompiledRoute } from '../rest/http/router.ts';
import type { StreamOperations } from '../rest/stream/stream.ts';
import { methodNotAllowed } from '../wire/failure.ts';
import { llmsText } from './llms.ts';

/** Dependencies of the descriptions. */
export interface DescriptionsParts {
  schema: GraphQLSchema;
  compiled: readonly CompiledRoute[];
  streams: StreamOperations;
  /** Address for reports of vulnerabilities; null = none is published. */
  securityContact: string | null;
  /** The server's clock, epoch ms. */
  now: () => number;
}

/** A text of the interface, made when it is first requested. */
interface Description {
  contentType: string;
  make: () => string;
}

const text = 'text/plain; charset=utf-8';

/** Time after which a reader should read `security.txt` again, ms. */
const securityExpiryMs = 180 * 86_400_000;

/** `security.txt` by RFC 9116. */
function securityText(contact: string, nowMs: number): string {
  const expires = new Date(nowMs + securityExpiryMs).toISOString().slice(0, 10);
  return `Contact: ${contact}\nExpires: ${expires}T00:00:00Z\nPreferred-Languages: en\n`;
}

/** Made once: it changes only with the version of the program. */
function once(contentType: string, make: () => string): Description {
  let made: string | null = null;
  return {
    contentType,
    make: () => {
      made ??= make();
      return made;
    },
  };
}

function descriptionsOf({ schema, compiled, streams, securityContact, now }: DescriptionsParts) {
  const found: Record<string, Description> = {
    '/schema.graphql': once(text, () => `${printSchema(lexicographicSortSchema(schema))}\n`),
    '/llms.txt': once(text, () => llmsText(compiled)),
    '/asyncapi.json': once('application/json; charset=utf-8', () => JSON.stringify(asyncApi(schema, streams))),
  };
  if (securityContact !== null)
    found['/.well-known/security.txt'] = { contentType: text, make: () => securityText(securityContact, now()) };
  return found;
}

/** Descriptions of the interface for machines. They require no credential, and any cache may store them. */
export function descriptionsRouter(parts: DescriptionsParts): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, { contentType, make }] of Object.entries(descriptionsOf(parts))) {
    router.get(path, async (request: Request, response: Response) => {
      allowSharedCaching(response, 'public, max-age=300');
      await sendBody(request, response, { bytes: Buffer.from(make()), contentType, etag: null });
    });
    router.all(path, (request) => {
      throw methodNotAllowed(request.method, ['GET', 'HEAD']);
    });
  }
  return router;
}
