import { expect, test } from 'vitest';
import { ContentTooLarge, InvalidValue } from '../../../src/platform/runtime/invalid-value.ts';
import {
  failureWithin,
  internal,
  invalidParameter,
  knownFailure,
  notFound,
} from '../../../src/platform/wire/failure.ts';

test('an error of the caller has no stack, which takes most of the time of an error; a defect has one', () => {
  const { stackTraceLimit } = Error;
  for (const failure of [invalidParameter('limit', 'expected a number'), notFound('Symbol ABCD')])
    expect(failure.stack).toBe(`Failure: ${failure.message}`);
  expect(internal(new Error('wrong')).stack).toContain('\n    at ');
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});

test('what a client has given is its failure, also within the errors of a graph; a fault is none', () => {
  const invalid = new InvalidValue('symbol', 'expected a ticker');
  const sent = { status: 400, code: 'invalid_params', message: 'symbol: expected a ticker' };
  expect(knownFailure(invalid)).toMatchObject({ ...sent, details: { parameter: 'symbol' } });
  expect(failureWithin(Object.assign(new Error('wrapped'), { originalError: invalid }))).toMatchObject(sent);
  expect(knownFailure(new ContentTooLarge('10 MiB'))).toMatchObject({
    status: 413,
    code: 'invalid_params',
    message: 'The body is too large: at most 10 MiB.',
  });
  expect(knownFailure(new RangeError('defect'))).toBeNull();
});
