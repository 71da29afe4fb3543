import { readdirSync, readFileSync } from 'node:fs';
import { Kind, parse, print, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/schema/index.ts';

const rest = new URL('../../src/rest/', import.meta.url);

function operationFiles(): string[] {
  return readdirSync(rest, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.graphql'));
}

/** Fields that a selection must have before it is worth a fragment of its own. */
const fewestFields = 4;

/** Where each selection of at least `fewestFields` fields stands, by its type and normalized text. */
function selections(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const path of operationFiles()) {
    const types = new TypeInfo(schema);
    const collect = visitWithTypeInfo(types, {
      SelectionSet(node) {
        const fields = node.selections.filter(({ kind }) => kind === Kind.FIELD);
        if (fields.length < fewestFields) return;
        const text = [types.getParentType()?.name, ...fields.map((field) => print(field))].join('\n');
        found.set(text, [...(found.get(text) ?? []), path]);
      },
    });
    visit(parse(readFileSync(new URL(path, rest), 'utf8')), collect);
  }
  return found;
}

describe('stored operations', () => {
  test('write no selection twice: what several share is a fragment', () => {
    const all = selections();
    expect(all.size).toBeGreaterThan(40);
    const repeated = [...all].filter(([, paths]) => paths.length > 1);
    expect(repeated).toEqual([]);
  });

  test('use every fragment at least twice', () => {
    const spreads = new Map<string, number>();
    for (const path of operationFiles()) {
      visit(parse(readFileSync(new URL(path, rest), 'utf8')), {
        FragmentDefinition: ({ name }) => void spreads.set(name.value, spreads.get(name.value) ?? 0),
        FragmentSpread: ({ name }) => void spreads.set(name.value, (spreads.get(name.value) ?? 0) + 1),
      });
    }
    expect([...spreads].filter(([, uses]) => uses < 2)).toEqual([]);
  });
});
