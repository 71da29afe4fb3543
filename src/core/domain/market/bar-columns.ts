import { type Column, type Columns, namesOf } from '../columns.ts';

/** Rule by which a longer bar has its value from those of its parts, which ascend. */
export type Joining = 'first' | 'highest' | 'lowest' | 'last' | 'sum' | 'mean';

const price = { type: 'float64', nullable: false } as const;

/** The numbers of a bar of a stock or an option contract. The names in protobuf are those of the message `Bar`. */
export const barNumbers = {
  tsMs: {
    type: 'int64',
    nullable: false,
    graph: 'EpochMs',
    joined: 'first',
    description: 'Start of the bar, epoch ms.',
  },
  open: { ...price, protobuf: 'o', joined: 'first', description: 'First price, dollars a share.' },
  high: { ...price, protobuf: 'h', joined: 'highest', description: 'Highest price, dollars a share.' },
  low: { ...price, protobuf: 'l', joined: 'lowest', description: 'Lowest price, dollars a share.' },
  close: { ...price, protobuf: 'c', joined: 'last', description: 'Last price, dollars a share.' },
  volume: {
    type: 'int64',
    nullable: false,
    protobuf: 'v',
    joined: 'sum',
    description: 'Shares (stocks) or contracts (options).',
  },
  vwap: {
    type: 'float64',
    joined: 'mean',
    description: 'Volume-weighted average price, dollars a share; null if the source does not report it.',
  },
  tradeCount: {
    type: 'int64',
    protobuf: 'n',
    joined: 'sum',
    description: 'Number of trades; null if the source does not report it.',
  },
} as const satisfies Columns & Record<string, Column & { joined: Joining }>;

/** The columns of bars, in the order in which they are stored. */
export const barColumnNames = namesOf(barNumbers);

const { tsMs, volume } = barNumbers;

/** The numbers of a stock's bar. */
export const stockBarNumbers = {
  ...barNumbers,
  tsMs: { ...tsMs, description: `${tsMs.description} A 1d bar starts at 00:00 New York.` },
  volume: { ...volume, description: 'Shares.' },
};

/** The numbers of a contract's bar. */
export const optionBarNumbers = { ...barNumbers, volume: { ...volume, description: 'Contracts.' } };
