import { existsSync, readFileSync } from 'node:fs';
import { type FieldNode, Kind, parse, type SelectionSetNode, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { firstQuery, firstRoute } from '../../src/pages/first-requests.ts';
import type { Captured } from '../../src/pages/reference/example-answers.ts';
import { type GuideExampleName, guideAnswers } from '../../src/pages/reference/guides/examples.ts';
import { schema } from '../../src/schema/index.ts';

const text = readFileSync('README.md', 'utf8');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1]!);

/** The names a selection asks for must be those of the answer, down to the leaves. */
function expectShape(selection: SelectionSetNode | undefined, answer: unknown): void {
  if (selection === undefined || answer === null) return;
  if (Array.isArray(answer)) {
    for (const each of answer) expectShape(selection, each);
    return;
  }
  const fields = selection.selections as readonly FieldNode[];
  expect(Object.keys(answer as object)).toEqual(fields.map((field) => field.name.value));
  for (const field of fields) expectShape(field.selectionSet, (answer as Record<string, unknown>)[field.name.value]);
}

describe('README.md', () => {
  it('shows a GraphQL question that the graph takes, and an answer of its shape', () => {
    const document = parse(blocks('graphql')[0]!);
    expect(validate(schema, document)).toEqual([]);
    const operation = document.definitions[0]!;
    if (operation.kind !== Kind.OPERATION_DEFINITION) throw new Error('expected a question');
    expectShape(operation.selectionSet, JSON.parse(blocks('json')[0]!).data);
  });

  it('begins with the requests that `/` begins with, and with the whole answers that the sample market gave', () => {
    expect(blocks('graphql')[0]!.trim()).toBe(firstQuery);
    expect(blocks('sh')[0]).toContain(`'http://127.0.0.1:4000${firstRoute}'`);
    const { 'first-query': graph, 'first-route': rest } = guideAnswers as Record<GuideExampleName, Captured>;
    expect([graph.omitted, rest.omitted]).toEqual([{}, {}]);
    const [{ data, extensions }, route] = blocks('json').map((block) => JSON.parse(block));
    const captured = graph.answer as { data: object; extensions: { cost: { remaining: number } } };
    const { remaining: _, ...cost } = captured.extensions.cost;
    expect(data).toEqual(captured.data);
    expect(extensions.cost).toMatchObject(cost);
    const { data: grid, meta } = rest.answer as { data: object; meta: object };
    // When it was asked differs from capture to capture.
    expect(route).toEqual({ data: grid, meta: { ...meta, read_at_ms: expect.any(Number) } });
  });

  it('shows a REST answer whose figures are known', () => {
    const { net_gex: netGex, strikes } = JSON.parse(blocks('json')[1]!).data;
    expect(netGex).toEqual(expect.any(Number));
    expect(strikes).toHaveLength(2);
    for (const strike of strikes) expect(Object.values(strike)).not.toContain(null);
  });

  it('leads to files that are there', () => {
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect(existsSync(link.replace(/#.*/, '')), link).toBe(true);
    for (const [path] of text.matchAll(/\bsrc\/[\w-]+\/[\w/-]+\.ts/g)) expect(existsSync(path), path).toBe(true);
  });
});
