import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importLimits } from '../../src/core/domain/journal.ts';
import { savedScreenLimits } from '../../src/core/domain/screener.ts';
import { messageLimits, mostOperations } from '../../src/graphql/ws-endpoint.ts';
import { variableNames } from '../../src/platform/config/config.ts';
import { barLimits } from '../../src/resolvers/market/stock-bars.ts';
import { controlLimits, mostSubscriptions } from '../../src/rest/socket/socket-endpoint.ts';
import { mostTopics } from '../../src/rest/stream/stream-topics.ts';

const text = readFileSync('docs/security.md', 'utf8');
const figures = Object.fromEntries(
  [...text.matchAll(/^\| ([^|]+?) \| ([\d,]+) \|$/gm)].map((row) => [row[1], Number(row[2]!.replaceAll(',', ''))]),
);

describe('docs/security.md', () => {
  it('tells the figures that hold', () => {
    expect(figures).toEqual({
      'topics of a stream, beside quotes': mostTopics,
      'operations at a time on one WebSocket': mostOperations,
      'messages of one WebSocket within ten seconds': messageLimits.perTenSeconds,
      'subscriptions of one connection to `/v2/ws`': mostSubscriptions,
      'bytes of a control message of `/v2/ws`': controlLimits.bytes,
      'bars a page, with a key': barLimits.keyMax,
      'bars a page, with a session': barLimits.max,
      'row errors listed of an import': importLimits.listedErrors,
      'bytes of a saved screen': savedScreenLimits.bytes,
    });
  });

  it('names settings that there are', () => {
    const named = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map((match) => match[1]!);
    const others = ['FUZZ_COUNT', 'FUZZ_SEED'];
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => ![...variableNames, ...others].includes(name as never))).toEqual([]);
  });
});
