import { expect, test } from 'vitest';
import { internal, invalidParameter, notFound } from '../../../src/platform/wire/failure.ts';

test('an error of the caller has no stack, which takes most of the time of an error; a defect has one', () => {
  const { stackTraceLimit } = Error;
  for (const failure of [invalidParameter('limit', 'expected a number'), notFound('Symbol ABCD')])
    expect(failure.stack).toBe(`Failure: ${failure.message}`);
  expect(internal(new Error('wrong')).stack).toContain('\n    at ');
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});
