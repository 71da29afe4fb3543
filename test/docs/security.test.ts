import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig, variableNames } from '../../src/config/config.ts';
import { describeConfig } from '../../src/config/printed-settings.ts';
import { importLimits } from '../../src/domain/journal/journal-import.ts';
import { savedScreenLimits } from '../../src/domain/screener.ts';
import { documentLimits } from '../../src/graphql/limits/document-limits.ts';
import { mostOperations } from '../../src/graphql/ws/subscription-connection.ts';
import { messageLimits } from '../../src/graphql/ws/ws-endpoint.ts';
import { barLimits } from '../../src/resolvers/market/stock-bars.ts';
import { controlLimits } from '../../src/rest/socket/socket-endpoint.ts';
import { mostSubscriptions } from '../../src/rest/socket/topic-connection.ts';
import { mostTopics } from '../../src/rest/stream/stream-topics.ts';

const text = readFileSync('docs/security.md', 'utf8');
const figures = Object.fromEntries(
  [...text.matchAll(/^\| ([^|]+?) \| ([\d,]+) \|$/gm)].map((row) => [row[1], Number(row[2]!.replaceAll(',', ''))]),
);

describe('docs/security.md', () => {
  it('tells the figures that hold', () => {
    const defaults = describeConfig(readConfig({}));
    expect(figures).toEqual({
      'live streams of a key, in each process (`MAX_STREAMS`)': defaults.MAX_STREAMS,
      'topics of a stream, beside quotes': mostTopics,
      'operations at a time on one WebSocket': mostOperations,
      'messages of one WebSocket within ten seconds': messageLimits.perTenSeconds,
      'subscriptions of one connection to `/v2/ws`': mostSubscriptions,
      'bytes of a control message of `/v2/ws`': controlLimits.bytes,
      'bytes of a GraphQL request': documentLimits.bytes,
      'tokens of a GraphQL document': documentLimits.tokens,
      'fields of a GraphQL document, fragments expanded': documentLimits.fields,
      'depth of a GraphQL document': documentLimits.depth,
      'names of one field in one place of a GraphQL document': documentLimits.aliases,
      'bytes of a GraphQL answer, as predicted': documentLimits.answerBytes,
      'bars a page, with a key': barLimits.keyMax,
      'bars a page, with a session': barLimits.max,
      'bytes of an import': importLimits.bytes,
      'lines of an import': importLimits.lines,
      'row errors listed of an import': importLimits.listedErrors,
      'rows of a journal (`JOURNAL_MAX_ROWS`)': defaults.JOURNAL_MAX_ROWS,
      'saved screens of an account (`MAX_SAVED_SCREENS`)': defaults.MAX_SAVED_SCREENS,
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
