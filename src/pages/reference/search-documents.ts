import type { CompiledRoute } from '../../rest/contract/compiled-route.ts';
import type { JsonSchema } from '../../rest/contract/json-schema.ts';
import { writtenPath } from '../../rest/contract/route.ts';
import { errorStatuses } from '../../rest/openapi/errors.ts';
import { topicKinds } from '../../rest/stream/stream-topics.ts';
import { type Html, trusted } from '../html.ts';
import type { PagesParts } from '../pages-dependencies.ts';
import type { Guide, GuideParts } from './guides/guide-types.ts';
import { guides } from './guides/guides.ts';
import { aiClients, introduction } from './introduction.ts';
import { answerSchemaOf, type DescribedParameter, describedBy, fieldsOf, parameterId } from './openapi-fields.ts';
import { webSockets } from './stream-section.ts';

/** A document of the search. */
export interface SearchDocument {
  id: number;
  /** Its kind, for people: `Route`, `Parameter`, `Guide` and so on. */
  kind: string;
  title: string;
  /** Synonyms, which readers search for and its text does not use. */
  alsoCalled: string;
  /** Its location: a route's method and path, a section's page. */
  place: string;
  href: string;
  /** Its text. */
  text: string;
  /** Names of an answer's fields. */
  fields: string;
}

type Unnumbered = Omit<SearchDocument, 'id' | 'alsoCalled' | 'fields'> & { alsoCalled?: string; fields?: string };

/** The text of markup. */
export function textOf({ markup }: Html): string {
  return markup
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39);/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function parameterDocument({ route }: CompiledRoute, { name, description, schema }: DescribedParameter): Unnumbered {
  const values = (schema.enum as unknown[] | undefined)?.join(' ') ?? '';
  return {
    kind: 'Parameter',
    title: name,
    place: `${route.method} ${writtenPath(route.path)}`,
    href: `/docs#${parameterId(route.name, name)}`,
    text: `${description} ${values}`.trim(),
  };
}

function routeDocuments(compiled: CompiledRoute, description: JsonSchema): Unnumbered[] {
  const { route } = compiled;
  const described = describedBy(description, route.method, route.path);
  return [
    {
      kind: 'Route',
      title: route.summary,
      place: `${route.method} ${writtenPath(route.path)}`,
      href: `/docs#${route.name}`,
      text: route.description,
      fields: [...new Set(fieldsOf(answerSchemaOf(described)).map(({ path }) => path.split('.').at(-1)))].join(' '),
    },
    ...described.parameters.map((parameter) => parameterDocument(compiled, parameter)),
  ];
}

const topicDocuments = (): Unnumbered[] =>
  Object.entries(topicKinds).map(([kind, { description, option }]) => ({
    kind: 'Stream topic',
    title: kind,
    place: `GET /v2/stream?topics=${kind}:…`,
    href: `/docs#topic-${kind}`,
    text: `Sends ${description.replaceAll('`', '')}. ${option ?? ''}`.trim(),
  }));

const errorDocuments = (): Unnumbered[] =>
  Object.entries(errorStatuses).map(([status, { description, codes }]) => ({
    kind: 'Error',
    title: `${status} ${Object.keys(codes).join(', ')}`,
    place: 'Errors',
    href: `/docs#error-${status}`,
    text: description,
  }));

const sectionDocuments = (routes: number): Unnumbered[] =>
  [
    { title: 'API reference', href: '/docs#start', text: textOf(introduction()) },
    {
      title: 'Live streams',
      alsoCalled: 'SSE, server-sent events, EventSource, streaming, real time, push',
      href: '/docs#stream',
      text: 'Server-sent events and GraphQL subscriptions.',
    },
    {
      title: 'WebSockets',
      alsoCalled: 'web socket, ws, wss',
      href: '/docs#websockets',
      text: textOf(webSockets),
    },
    { title: 'AI clients', alsoCalled: 'MCP, agents, LLM', href: '/docs#mcp', text: textOf(aiClients(routes)) },
  ].map((section) => ({ kind: 'Section', place: 'API reference', ...section }));

/** Documents of a guide and its sections. Examples are omitted, because they contain the current date. */
function guideDocuments({ path, title, about, alsoCalled, sections }: Guide, parts: GuideParts): Unnumbered[] {
  return [
    { kind: 'Guide', title, alsoCalled, place: 'Guides', href: path, text: about },
    ...sections(parts).map(({ id, title: part, alsoCalled: partAlsoCalled = '', body }) => ({
      kind: 'Guide',
      title: part,
      alsoCalled: partAlsoCalled,
      place: title,
      href: `${path}#${id}`,
      text: textOf(trusted(body.markup.replace(/<pre.*?<\/pre>/gs, ' '))),
    })),
  ];
}

/** Documents of the pages below `/docs`, one per link target. */
export function searchDocuments({
  compiled,
  description,
  limits,
}: Pick<PagesParts, 'compiled' | 'description' | 'limits'>): SearchDocument[] {
  const parts: GuideParts = { nowMs: 0, limits, compiled, sampleKey: null };
  const all: Unnumbered[] = [
    ...guides.flatMap((guide) => guideDocuments(guide, parts)),
    ...sectionDocuments(compiled.length),
    ...compiled.flatMap((one) => routeDocuments(one, description)),
    ...topicDocuments(),
    ...errorDocuments(),
  ];
  return all.map((one, id) => ({ alsoCalled: '', fields: '', ...one, id }));
}
