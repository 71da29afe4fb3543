import { type DocumentNode, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import * as operations from '../../../src/pages/dashboard/client/data/operations.ts';
import { schema } from '../../../src/schema/index.ts';

const documents = Object.entries(operations).map(([name, text]) => [name, parse(text)] as const);

describe('the dashboard’s operations', () => {
  test.each(documents)('%s fits the schema', (_name, document: DocumentNode) => {
    expect(validate(schema, document).map(({ message }) => message)).toEqual([]);
  });
});
