import type { Columns } from '../columns.ts';

/** The values of a quote. All are null if there is no recent price, or it may not be read. */
export const quoteColumns = {
  spot: { type: 'float64', description: 'Price, dollars.' },
  changePct: { type: 'float64', description: 'Percent against officialClose, with 4 decimals: -0.72 is -0.72%.' },
  netGex: { type: 'float64', description: 'Always null. See gex of the symbol.' },
  gexChange: { type: 'float64', description: 'Always null.' },
  volume: { type: 'int64', description: 'Shares traded in the session of the price; null for an index.' },
  officialClose: {
    type: 'float64',
    description: 'Prior close, dollars, divided by the splits since; null when unknown.',
  },
  sessionDate: { type: 'text', graph: 'SessionDate', description: 'Exchange session of the price.' },
  eventTsMs: {
    type: 'int64',
    graph: 'EpochMs',
    description: 'Time of the price, epoch ms; null if the price comes from a daily bar.',
  },
  note: {
    type: 'text',
    description:
      'Set if the open is within 1% of a whole multiple or fraction of officialClose and no split is stored: then changePct may compare different shares. Null otherwise.',
  },
} as const satisfies Columns;

/** The values of a symbol that moved: its change is known, and so are the two prices it is of. */
export const moverColumns = {
  spot: { ...quoteColumns.spot, nullable: false },
  changePct: { ...quoteColumns.changePct, nullable: false },
  volume: quoteColumns.volume,
  officialClose: {
    type: 'float64',
    nullable: false,
    description: 'Prior close, dollars, divided by the splits since.',
  },
  note: { type: 'text', description: 'Same as note of the quote.' },
} as const satisfies Columns;
