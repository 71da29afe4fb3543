import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind, OperationTypeNode, visit } from 'graphql';
import type { GraphTables, ReadTable } from '../graphql/execution/answer-table.ts';
import { invalidParameter, invalidRequest } from '../platform/wire/failure.ts';
import { inlineSchema } from './contract/answer-schema.ts';
import { headerJson } from './contract/media.ts';
import { answerTables, type Column, type Table, type Tables } from './contract/table.ts';
import { writeTable } from './contract/table-media.ts';
import { FileProblem } from './own/problems.ts';
import { wholeSelection } from './own/selection.ts';

/** Tables named in an error. */
const shownTables = 20;

/** Longer values beside a table are in its metadata alone: clients limit the headers of an answer. */
const mostHeaderCharacters = 4000;

/** The rows of a page's `edges` are its nodes; the cursor stays beside them. */
function ofNodes(table: Table): Table {
  const columns = table.columns.map((column) => ({ ...column, name: column.name.replace(/^node\./, '') }));
  if (new Set(columns.map(({ name }) => name)).size < columns.length) return table;
  const objects = function* (data: unknown) {
    for (const edge of table.objects(data)) {
      const { node, ...beside } = edge as { node?: object };
      yield { ...node, ...beside };
    }
  };
  return { ...table, path: table.path.replace(/\.edges$/, ''), columns, objects };
}

/** A table of the graph: any field can be null, because the graph has no answers 404. */
function graphTable(table: Table): Table {
  const columns: readonly Column[] = table.columns.map((column) => ({ ...column, nullable: true }));
  const nullable = { ...table, columns };
  return table.path.endsWith('.edges') ? ofNodes(nullable) : nullable;
}

/** Throws 400 for a document that reads the schema, which is no data. */
function requireData(document: DocumentNode): void {
  visit(document, {
    Field: ({ name: { value } }) => {
      if (value === '__schema' || value === '__type') throw invalidRequest('Introspection is JSON.');
    },
  });
}

/** The tables of an operation. Throws 400 for one that has none. */
function tablesOf(schema: GraphQLSchema, document: DocumentNode, operationName: string | null | undefined): Tables {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.QUERY)
    throw invalidRequest('Accept: expected application/json for an operation that is no query.');
  requireData(document);
  const selection = wholeSelection(schema, document, operation);
  const name = { kind: Kind.NAME, value: 'Table' } as const;
  const read = { source: '', document, definition: { ...operation, name } };
  const { tables, beside } = answerTables(inlineSchema(schema, read, schema.getQueryType()!, selection));
  if (tables.length === 0) throw invalidRequest('The answer has no list of objects. Accept application/json.');
  return { tables: tables.map(graphTable), beside };
}

function choose({ tables }: Tables, asked: string | null): Table {
  const paths = tables.slice(0, shownTables).map(({ path }) => path);
  const expected = `one of ${paths.join(', ')}${tables.length > shownTables ? ', …' : ''}`;
  if (asked !== null) {
    const found = tables.find(({ path }) => path === asked);
    if (found) return found;
    throw invalidParameter('table', `expected ${expected}, got ${JSON.stringify(asked.slice(0, 40))}`);
  }
  const [first, second] = tables.filter(({ isInner }) => !isInner);
  if (second) throw invalidParameter('table', `expected ${expected}: the answer has several lists`);
  return first!;
}

/**
 * The lists of the graph's answers as tables, by the rules of routes. `metaHeaderPrefix` begins the headers with the
 * values beside a table.
 */
export function graphTables(schema: GraphQLSchema, metaHeaderPrefix: string): GraphTables {
  const known = new WeakMap<DocumentNode, Map<string, Tables>>();
  const read = (document: DocumentNode, operationName: string | null | undefined): Tables => {
    const ofDocument = known.get(document) ?? new Map<string, Tables>();
    known.set(document, ofDocument);
    const name = operationName ?? '';
    const found = ofDocument.get(name) ?? tablesOf(schema, document, operationName);
    ofDocument.set(name, found);
    return found;
  };
  return (document, operationName, asked): ReadTable => {
    let tables: Tables;
    try {
      tables = read(document, operationName);
    } catch (error) {
      throw error instanceof FileProblem ? invalidRequest(`As a table: ${error.message}`) : error;
    }
    const table = choose(tables, asked);
    return {
      async write(media, { data, extensions, most }) {
        const beside = tables.beside(data);
        const texts = { extensions: JSON.stringify(extensions), ...(beside && { data: JSON.stringify(beside) }) };
        const { bytes, contentType } = await writeTable(media, { table, data, metadata: texts, most });
        const inHeaders = { extra: extensions, ...(beside && { data: beside }) };
        const headers = Object.entries(inHeaders)
          .map(([name, value]) => [`${metaHeaderPrefix}${name}`, headerJson(value)] as const)
          .filter(([, text]) => text.length <= mostHeaderCharacters);
        return { bytes, headers: { 'content-type': contentType, ...Object.fromEntries(headers) } };
      },
    };
  };
}
