import type { GraphQLSchema } from 'graphql';
import { z } from 'zod';
import { readDocument } from './document.ts';
import { FileProblem, Problems } from './problems.ts';
import { nameOf, type RouteFiles, type SourceFile } from './route-files.ts';
import { parseJson } from './settings.ts';

/** Maximum number of trusted documents. */
const mostDocuments = 10_000;

/** A manifest of Apollo's clients. */
const apollo = z.looseObject({
  format: z.literal('apollo-persisted-query-manifest'),
  version: z.literal(1),
  operations: z.array(z.looseObject({ id: z.string().min(1).max(200), body: z.string() })),
});

/** A manifest of Relay, or of the client preset of GraphQL Code Generator: text by id or hash. */
const byId = z.record(z.string().min(1).max(200), z.string());

const expected =
  'expected the settings of a document of the same name, or a manifest of trusted documents: of Apollo (format apollo-persisted-query-manifest, version 1), of Relay, or of the client preset of GraphQL Code Generator ({"id": "text"})';

/** The documents of a manifest, by id. */
function readManifest(file: SourceFile): [id: string, text: string][] {
  const value = parseJson(file);
  const ofApollo = apollo.safeParse(value);
  if (ofApollo.success) return ofApollo.data.operations.map(({ id, body }) => [id, body]);
  const plain = byId.safeParse(value);
  if (plain.success && Object.keys(plain.data).length > 0) return Object.entries(plain.data);
  throw new FileProblem(expected);
}

/** A problem of a document of a manifest, named by its id. */
function ofDocument(id: string, thrown: unknown): unknown {
  const errors = thrown instanceof AggregateError ? thrown.errors : [thrown];
  return new AggregateError(
    errors.map((error) => (error instanceof Error ? new FileProblem(`${id}: ${error.message}`) : error)),
  );
}

/**
 * The trusted documents of a folder, by id: those of its manifests, and those of its routes by their names. Throws
 * `RoutesError` with every problem.
 */
export function trustedTexts(schema: GraphQLSchema, files: RouteFiles): Map<string, string> {
  const problems = new Problems();
  const texts = new Map(files.documents.map(({ name, text }) => [nameOf(name), text]));
  const add = (id: string, text: string) => {
    const known = texts.get(id);
    if (known !== undefined && known !== text) throw new FileProblem(`${id}: another document has this id`);
    try {
      if (known === undefined) readDocument(schema, { name: id, text });
    } catch (thrown) {
      throw ofDocument(id, thrown);
    }
    texts.set(id, text);
    if (texts.size > mostDocuments) throw new FileProblem(`with it there are over ${mostDocuments} trusted documents`);
  };
  const settingsOf = new Set(files.documents.map(({ name }) => nameOf(name)));
  for (const file of files.json) {
    if (settingsOf.has(nameOf(file.name))) continue;
    for (const [id, text] of problems.of(file.name, () => readManifest(file)) ?? [])
      problems.of(file.name, () => add(id, text));
  }
  problems.requireNone();
  return texts;
}
