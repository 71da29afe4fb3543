import { z } from 'zod';
import type { Param } from '../../src/rest/contract/params.ts';
import { type Random, randomOf } from '../support/random.ts';
import { about, type KnownRoute, type Sent, textsOf } from './known-routes.ts';

/** A request to a route, made up from the texts its parameters are tried with. */
export interface MadeRequest extends Sent {
  method: string;
  /** Path and query, encoded. */
  path: string;
  /** The parameters' texts by name. */
  texts: Record<string, string>;
}

const isOptional = (param: Param) => param instanceof z.ZodOptional;

/** Path and query of a route for these texts. */
export function pathOf({ route }: KnownRoute, texts: Record<string, string>): string {
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(texts[name]!));
  const query = Object.keys(route.queryParams).flatMap((name) =>
    texts[name] === undefined ? [] : [`${name}=${encodeURIComponent(texts[name])}`],
  );
  return query.length > 0 ? `${path}?${query.join('&')}` : path;
}

/** Texts of every required parameter, and of each optional one as often as not. */
function someTexts(known: KnownRoute, random: Random): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, param] of Object.entries({ ...known.route.pathParams, ...known.route.queryParams })) {
    if (!isOptional(param) || random.once(2)) texts[name] = random.pick(textsOf(known, name));
  }
  return texts;
}

/** Every text of every parameter at least once, then `more` of any. Paths without parameters are asked once. */
export function madeRequests(known: KnownRoute, more: number, seed = 1): MadeRequest[] {
  const random = randomOf(seed);
  const params = { ...known.route.pathParams, ...known.route.queryParams };
  const all = [someTexts(known, random)];
  for (const name of Object.keys(params)) {
    for (const text of textsOf(known, name)) all.push({ ...someTexts(known, random), [name]: text });
  }
  if (Object.keys(params).length > 0) for (let i = 0; i < more; i++) all.push(someTexts(known, random));
  const { body, contentType } = known.known;
  const sent: Sent = { ...(body ? { body: about(body, 'SPY') } : {}), ...(contentType ? { contentType } : {}) };
  const of = (texts: Record<string, string>, what: Sent) => ({
    method: known.route.method,
    path: pathOf(known, texts),
    texts,
    ...what,
  });
  return [
    ...all.map((texts) => of(texts, sent)),
    ...(known.known.bodies ?? []).map((other) => of(all[0]!, { ...sent, ...other })),
  ];
}
