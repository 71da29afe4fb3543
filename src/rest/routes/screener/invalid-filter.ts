import { type Failure, invalidParameter } from '../../../platform/wire/failure.ts';

/** The error of a filter or its order, with the place in it, from the message of the graph. */
export function invalidFilter(problem: string): Failure {
  const [, written, reason] = /(?: at "([^"]+)")?; (.*)$/s.exec(problem) ?? [];
  const place = written?.replace(/^screen\./, '').replace(/^orderBy/, 'order_by');
  const parameter = place?.startsWith('order_by') ? 'order_by' : 'where';
  const within = place === parameter ? undefined : place;
  return invalidParameter(parameter, [within, reason ?? 'expected the filter of the graph'].filter(Boolean).join(': '));
}
