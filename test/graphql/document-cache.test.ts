import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type DocumentNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { documentBytes, documentCache } from '../../src/graphql/document-cache.ts';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heldBytes = () => {
  collect();
  return process.memoryUsage().heapUsed;
};

/** Documents at the limits, each another: short fields, aliases, and a comment. */
const largest: [string, (index: number) => string][] = [
  ['short fields', (index) => `{ a${index} ${'b '.repeat(documentLimits.tokens - 10)} }`],
  [
    'aliases with arguments',
    (index) => `{ ${Array.from({ length: 500 }, (_, field) => `a${field}: b(x: ${index}, y: "text") `).join('')} }`,
  ],
  ['a comment', (index) => `{ a } # ${index} ${'c'.repeat(documentLimits.bytes - 100)}`],
];

describe('the cache of documents', () => {
  test.each(largest)('weighs a document of %s by no less than what it holds', (_, text) => {
    const count = 20;
    const before = heldBytes();
    // Texts come from requests, flat and each its own.
    const held = Array.from({ length: count }, (_, index) => {
      const own = Buffer.from(text(index)).toString();
      return [own, parse(own)] as const;
    });
    const each = (heldBytes() - before) / count;
    expect(held).toHaveLength(count);
    expect(each).toBeLessThan(documentBytes(held[0]![0]));
  });

  test.each(largest)('stays below its bytes, however many documents of %s come', (_, text) => {
    const { documentCache: documents, stats } = documentCache(16 * 1024 * 1024);
    const document = { kind: 'Document' } as DocumentNode;
    for (let index = 0; index < 200; index += 1) documents.set(text(index), document);
    expect(stats().bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(documents.get(text(199))).toBe(document);
    expect(documents.get(text(0))).toBeUndefined();
  });

  test('bounds what it knows of texts that do not parse, too', () => {
    const { errorCache, stats } = documentCache(16 * 1024 * 1024);
    for (let index = 0; index < 500; index += 1) errorCache.set(`{ ${index} ${'c'.repeat(100_000)}`, new Error('no'));
    expect(stats().bytes).toBeLessThanOrEqual(1024 * 1024);
  });
});
