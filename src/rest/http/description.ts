import { Router } from 'express';
import { allowSharedCaching } from '../../platform/http/cache-headers.ts';
import { type Encoding, encode } from '../../platform/http/compression.ts';
import { methodNotAllowed } from '../../platform/wire/failure.ts';
import { type Body, sendBody, strongTag } from './respond.ts';

/** A text about the interface, made when it is first requested. */
export interface Description {
  contentType: string;
  make: () => string;
  /** Changes when the text does, if that changes with time: then it is made again. */
  state?: () => string;
}

export const jsonType = 'application/json; charset=utf-8';
export const textType = 'text/plain; charset=utf-8';

/** A public body, whose compressed forms are kept: anybody may ask for them, as often as they like. */
export async function keptBody(
  path: string,
  { contentType, text }: { contentType: string; text: string },
): Promise<Body> {
  const bytes = Buffer.from(text);
  const forms = new Map<Encoding, Promise<Buffer>>();
  const encoded = (encoding: Encoding) => {
    if (!forms.has(encoding)) forms.set(encoding, encode(bytes, encoding));
    return forms.get(encoding)!;
  };
  return { bytes, contentType, etag: await strongTag(path, bytes), encoded };
}

/**
 * Descriptions of the interface, by path. They change only with the version of the program and the operator's routes,
 * require no credential, and any cache may store them.
 */
export function descriptionRouter(descriptions: Readonly<Record<string, Description>>): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, description] of Object.entries(descriptions)) {
    let kept: { state: string; body: Promise<Body> } | null = null;
    router.get(path, async (request, response) => {
      const { contentType, make } = description;
      const state = description.state?.() ?? '';
      if (kept?.state !== state) kept = { state, body: keptBody(path, { contentType, text: make() }) };
      allowSharedCaching(response, 'public, max-age=300');
      await sendBody(request, response, await kept.body);
    });
    router.all(path, (request) => {
      throw methodNotAllowed(request.method, ['GET', 'HEAD']);
    });
  }
  return router;
}
