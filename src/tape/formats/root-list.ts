import type { HeaderFormat } from './format.ts';

/** Terms of option roots. */
export const rootList = {
  name: 'root-list',
  content: 'option roots and the terms of their contracts',
  required: ['root', 'underlying', 'style', 'settlement'],
  optional: ['multiplier', 'deliverable', 'on_forwards', 'from', 'to'],
  time: null,
  delayMs: 0,
  symbols: { column: 'underlying', spelling: 'ticker' },
} as const satisfies HeaderFormat;
