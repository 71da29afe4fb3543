import { readdirSync, readFileSync } from 'node:fs';
import { type DefinitionNode, Kind, parse, print, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { describe, expect, test } from 'vitest';
import * as dashboard from '../../src/pages/dashboard/client/data/operations.ts';
import { schema } from '../../src/schema/index.ts';

const rest = new URL('../../src/rest/', import.meta.url);

function operationFiles(): string[] {
  return readdirSync(rest, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.graphql'));
}

type Placed = [place: string, definition: DefinitionNode];

/**
 * Every definition with where it stands: of stored operations, and of the dashboard's, which repeat the fragments they
 * share.
 */
function definitions(): Placed[] {
  const stored = operationFiles().flatMap((path) =>
    parse(readFileSync(new URL(path, rest), 'utf8')).definitions.map((each): Placed => [path, each]),
  );
  const found = new Map<string, DefinitionNode>();
  for (const text of Object.values(dashboard)) for (const each of parse(text).definitions) found.set(print(each), each);
  return [...stored, ...Array.from(found.values(), (each): Placed => ['dashboard', each])];
}

/** Fields that a selection must have before it is worth a fragment of its own. */
const fewestFields = 4;

/**
 * Where each selection of at least `fewestFields` fields stands, by its type and its fields in the order of the
 * alphabet.
 */
function selections(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [place, definition] of definitions()) {
    const types = new TypeInfo(schema);
    const collect = visitWithTypeInfo(types, {
      SelectionSet(node) {
        const fields = node.selections.filter(({ kind }) => kind === Kind.FIELD);
        if (fields.length < fewestFields) return;
        const text = [types.getParentType()?.name, ...fields.map((field) => print(field)).sort()].join('\n');
        found.set(text, [...(found.get(text) ?? []), place]);
      },
    });
    visit(definition, collect);
  }
  return found;
}

describe('stored operations', () => {
  test('and the dashboard’s write no selection twice: what several share is a fragment', () => {
    const all = selections();
    expect(all.size).toBeGreaterThan(60);
    const repeated = [...all].filter(([, paths]) => paths.length > 1);
    expect(repeated).toEqual([]);
  });

  test('use every fragment at least twice, but the one that is added to every answer of market data', () => {
    const spreads = new Map([['Provenance', 2]]);
    for (const path of operationFiles()) {
      visit(parse(readFileSync(new URL(path, rest), 'utf8')), {
        FragmentDefinition: ({ name }) => void spreads.set(name.value, spreads.get(name.value) ?? 0),
        FragmentSpread: ({ name }) => void spreads.set(name.value, (spreads.get(name.value) ?? 0) + 1),
      });
    }
    expect([...spreads].filter(([, uses]) => uses < 2)).toEqual([]);
  });
});
