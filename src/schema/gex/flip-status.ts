import type { FlipStatus } from '../../core/domain/gex/flip-status.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';

/** Statuses of a flip point. */
export const FlipStatusEnum = builder.enumType('FlipStatus', {
  description: 'Reliability of a flip point. The first value that holds applies.',
  values: enumValues<FlipStatus>({
    no_strikes: 'There are no strikes, so there is no flip point.',
    no_crossing: 'The cumulative net gex curve does not cross zero, so there is no flip point.',
    partial: 'The chain is known to lack contracts. Zero gamma is more reliable.',
    remote: 'The flip point is more than 20% from the spot. Zero gamma is more reliable.',
    fragile:
      '|net gex| is less than 1% of the sum of |gex| over contracts, so a small change moves the flip point far. Zero gamma is more reliable.',
    crosses: 'The curve crosses zero at the flip point.',
  }),
});

/** Description of a flip point's status, for fields that may return captures of older versions. */
export const flipStatusText =
  'Reliability of the flip point. Null if an older version stored the capture and its rows do not determine it, or if there is no capture.';
