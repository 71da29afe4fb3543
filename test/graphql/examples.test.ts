import { parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { exampleTabs, latestSession } from '../../src/graphql/examples.ts';
import { schema } from '../../src/schema/index.ts';
import { testApp, testSymbols } from '../support/app.ts';

const nowMs = Date.parse('2026-11-20T17:00Z');

describe("GraphiQL's examples", () => {
  test.each(exampleTabs(nowMs).map((tab) => [/query (\w+)/.exec(tab.query)![1]!, tab]))(
    '%s fits the schema',
    (_name, tab) => {
      expect(validate(schema, parse(tab.query))).toEqual([]);
    },
  );

  test('answer without an error, also from an empty store', async () => {
    const app = await testApp({ nowMs, symbols: [...testSymbols, { ...testSymbols[0]!, symbol: 'QQQ' }] });
    try {
      for (const { query } of exampleTabs(nowMs)) {
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
