import { parse, validate } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAssets } from '../../src/pages/assets.ts';
import { capturedExamples } from '../../src/pages/reference/example-answers.ts';
import { shownRequest, streamTopics } from '../../src/pages/reference/example-request.ts';
import { referencePage } from '../../src/pages/reference/reference-page.ts';
import { searchPath } from '../../src/pages/reference/search-index.ts';
import { readConfig } from '../../src/platform/config/config.ts';
import { standingAt } from '../../src/rest/contract/example.ts';
import { compileContract } from '../../src/rest/route-table.ts';
import { topicKinds } from '../../src/rest/stream/stream-topics.ts';
import { schema } from '../../src/schema/index.ts';
import { dereferenced, misfits } from '../contract/json-schema.ts';
import { type KnownRoute, knownRoutes } from '../contract/known-routes.ts';
import { type Json, type TestApp, testApp } from '../support/app.ts';

let app: TestApp;
let page: string;
let description: Json;
beforeAll(async () => {
  app = await testApp();
  page = (await app.get('/docs', { credential: null, headers: { accept: 'text/html' } })).bytes.toString();
  const published = (await app.get('/v2/openapi.json', { credential: null })).body;
  description = dereferenced(published, published) as Json;
});
afterAll(() => app.close());

const nameOf = ({ route }: KnownRoute) => route.name;
const inBraces = (path: string) => path.replace(/:(\w+)/g, '{$1}');
const describedRoute = ({ route }: KnownRoute): Json =>
  description.paths[inBraces(route.path)][route.method.toLowerCase()];

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const read = (markup: string) =>
  markup.replace(/<[^>]+>/g, '').replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity]!);

/** The section of a route, as markup. */
function sectionOf(known: KnownRoute): string {
  const start = page.indexOf(`<section class="route" id="${nameOf(known)}"`);
  if (start < 0) throw new Error(`/docs does not show ${known.name}`);
  return page.slice(start, page.indexOf('</section>', start));
}

describe('/docs', () => {
  test.each(knownRoutes())('$name is there: what it takes, answers and refuses, and the operation it is', (known) => {
    const section = sectionOf(known);
    const text = read(section);
    const described = describedRoute(known);
    expect(text).toContain(`${known.route.method} ${inBraces(known.route.path)}`);
    expect(text).toContain(known.route.description);
    for (const { name, description: said } of described.parameters) {
      expect(section).toContain(`data-parameter="${name}"`);
      expect(text).toContain(said);
    }
    for (const status of Object.keys(described.responses)) {
      if (Number(status) >= 400) expect(section).toContain(`href="#error-${status}"`);
    }
    for (const media of Object.keys(described.responses[200].content)) expect(text).toContain(media);
    expect(text).toContain(described['x-graphql-operation'].trim());
    expect(page.slice(0, page.indexOf('</nav>\n<main'))).toContain(`href="#${nameOf(known)}"`);
  });

  test.each(knownRoutes())(
    '$name opens in GraphiQL as an operation of the graph, with variables that it takes',
    (known) => {
      const href = read(/href="(\/graphql\?[^"]+)"/.exec(sectionOf(known))![1]!);
      const { query, variables } = Object.fromEntries(new URL(href, app.url).searchParams);
      const document = parse(query!);
      expect(validate(schema, document)).toEqual([]);
      const [operation] = document.definitions;
      const declared = (operation as { variableDefinitions?: [] }).variableDefinitions ?? [];
      expect(getVariableValues(schema, declared, JSON.parse(variables ?? '{}')).errors).toBe(undefined);
    },
  );

  test.each(Object.keys(topicKinds))(
    'the topic %s is there, with what its events hold and the subscription it is',
    (kind) => {
      const start = page.indexOf(`id="topic-${kind}"`);
      const section = page.slice(start, page.indexOf('</section>', start));
      expect(read(section)).toContain(topicKinds[kind]!.description);
      const { responses } = description.paths['/v2/stream'].get;
      const fields = responses[200].content['text/event-stream']['x-events'][kind].properties;
      for (const field of Object.keys(fields)) expect(section).toContain(`<code>${field}</code>`);
      const href = read(/href="(\/graphql\?[^"]+)"/.exec(section)![1]!);
      const { query, variables } = Object.fromEntries(new URL(href, app.url).searchParams);
      expect(validate(schema, parse(query!))).toEqual([]);
      const [operation] = parse(query!).definitions;
      const declared = (operation as { variableDefinitions?: [] }).variableDefinitions ?? [];
      expect(getVariableValues(schema, declared, JSON.parse(variables!)).errors).toBe(undefined);
    },
  );

  test('a route without a captured answer says so, and how to capture it', () => {
    const parts = { ...compileContract(readConfig({}, {})), now: () => app.clock.nowMs };
    const { quotes: _, ...routes } = capturedExamples.routes;
    const page = referencePage({ ...capturedExamples, routes });
    const assets = openAssets(() => [
      { path: searchPath, hash: '0', modules: [], compressed: async () => Buffer.alloc(0) },
    ]);
    const shown = page(parts, { sample: null, nowMs: app.clock.nowMs }, assets);
    const sections = shown.body.markup.split('<section class="route" id="').slice(1);
    const without = sections.filter((section) =>
      read(section).includes('No example answer has been captured: run node scripts/capture-examples.ts.'),
    );
    const names = without.map((section) => section.slice(0, section.indexOf('"')));
    expect(names.sort()).toEqual(
      knownRoutes()
        .map(nameOf)
        .filter((name) => !(name in routes))
        .sort(),
    );
    expect(names).toContain('quotes');
    expect(read(without.find((section) => section.startsWith('quotes'))!)).toContain('/v2/quotes?symbols=SPY,QQQ');
    expect(sections).toHaveLength(parts.compiled.length);
  });

  test('every link within the page leads somewhere in it', () => {
    const targets = new Set([...page.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(targets).toContain(target);
  });

  test('a route needs a tier that reads the symbol where the rule of its symbol asks for it', () => {
    for (const { name, route } of knownRoutes()) {
      if (!['any', 'symbol'].includes(route.needs)) continue;
      const guarded = ['none', 'entry', 'writable'].includes(route.symbolRule) ? 'any' : 'symbol';
      expect(`${name}: ${route.needs}`).toBe(`${name}: ${guarded}`);
    }
  });
});

// When one of these fails: node scripts/capture-examples.ts
describe('the answers shown in /docs', () => {
  const captured = knownRoutes().filter((known) => nameOf(known) in capturedExamples.routes);

  test.each(captured)('$name: one that a server gave, of the form that it gives today', (known) => {
    const { status, answer } = capturedExamples.routes[nameOf(known)]!;
    expect(status).toBe(200);
    expect(misfits(describedRoute(known).responses[200].content['application/json'].schema, answer)).toEqual([]);
    // An empty list would show nothing.
    if (known.route.method === 'GET') expect(JSON.stringify((answer as Json).data)).not.toContain('[]');
  });

  test.each(captured)('$name: to the request that is shown', (known) => {
    const { method, address, body } = capturedExamples.routes[nameOf(known)]!;
    const standing = {
      ...standingAt(Date.parse(capturedExamples.clock)),
      key: capturedExamples.routes['revoke-key']!.address.split('/').at(-1)!,
      trade: capturedExamples.routes['delete-journal-trade']!.address.split('/').at(-1)!,
    };
    const request = shownRequest(known.route, standing);
    expect({ method, address, body }).toEqual({
      method: known.route.method,
      address: request.address,
      body: request.body,
    });
  });

  test('failures are of the form and the codes that a route describes', () => {
    const responses: Json[] = knownRoutes().map((known) => describedRoute(known).responses);
    for (const [status, { answer }] of Object.entries(capturedExamples.failures)) {
      // No route describes 405, which belongs to unknown routes; its body is like that of a bad request.
      const described = responses.find((each) => each[status])?.[status] ?? responses.find((each) => each[400])[400];
      expect(misfits(described.content['application/json'].schema, answer)).toEqual([]);
    }
    expect(Object.keys(capturedExamples.failures)).toEqual(['400', '401', '403', '404', '405', '415']);
  });

  test('events are of the form that the stream describes', () => {
    const { responses } = description.paths['/v2/stream'].get;
    const schemas = responses[200].content['text/event-stream']['x-events'];
    const [ready, ...events] = capturedExamples.stream.events;
    expect(ready!.event).toBe('ready');
    expect(capturedExamples.stream.address).toContain(streamTopics);
    expect(events.map(({ event }) => event)).toEqual(['quotes', 'bars', 'gex', 'cross-section']);
    for (const { event, data } of events) expect(misfits(schemas[event], data), event).toEqual([]);
  });

  test('every route has one, and no other', () => {
    const names = knownRoutes().map(nameOf).sort();
    expect(Object.keys(capturedExamples.routes).sort()).toEqual(names);
  });
});
