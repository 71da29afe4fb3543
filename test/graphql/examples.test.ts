import { parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { examplesAt, latestSession } from '../../src/graphql/examples.ts';
import { schema } from '../../src/schema/index.ts';
import { testApp, testSymbols } from '../support/app.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');

describe("GraphiQL's examples", () => {
  test.each(examplesAt(nowMs))('$name fits the schema', ({ query }) => {
    expect(validate(schema, parse(query))).toEqual([]);
  });

  test('have names of their own, and a subscription is among them', () => {
    const all = examplesAt(nowMs);
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(all.filter(({ query }) => /^subscription /m.test(query)).map(({ name }) => name)).toEqual([
      'Live prices (subscription)',
    ]);
  });

  test('answer without an error, also from an empty store', async () => {
    const more = ['QQQ', 'TQQQ'].map((symbol) => ({ ...testSymbols[0]!, symbol }));
    const app = await testApp({ nowMs, symbols: [...testSymbols, ...more] });
    try {
      for (const { query } of examplesAt(nowMs)) {
        if (/^subscription /m.test(query)) continue;
        const { errors } = await app.graphql(query);
        expect(errors ?? [], query).toEqual([]);
      }
    } finally {
      await app.close();
    }
  });

  test('speak of the latest session that has begun', () => {
    expect(latestSession(Date.parse('2026-11-20T14:29Z'))).toBe('2026-11-19');
    expect(latestSession(Date.parse('2026-11-20T14:30Z'))).toBe('2026-11-20');
    expect(latestSession(Date.parse('2026-11-22T17:00Z'))).toBe('2026-11-20');
  });
});
