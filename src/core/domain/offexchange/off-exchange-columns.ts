import type { Columns } from '../columns.ts';

const session = { type: 'text', graph: 'SessionDate', nullable: false, description: 'Session.' } as const;
const number = { type: 'float64', nullable: false } as const;
const count = { type: 'int32', nullable: false } as const;
const shares = { ...number, description: 'Shares.' } as const;
const dollars = { ...number, description: 'Dollars.' } as const;
const tradeCount = { type: 'int64', nullable: false, description: 'Number of executions.' } as const;

/** The values of each table's rows, which the models of the store have under the same names. */
export const offExchangeColumns = {
  activity: {
    date: session,
    offExchVolume: { ...shares, protobuf: 'off_exchange_volume' },
    notional: dollars,
    tradeCount,
    avgSize: { ...number, protobuf: 'average_size', description: 'Average shares per execution.' },
    vwap: { ...number, description: 'Volume-weighted average price, dollars.' },
    offExchPct: {
      type: 'float64',
      protobuf: 'off_exchange_share',
      description: 'Fraction of consolidatedVolume: 0.434 = 43.4 %; null when that is unknown.',
    },
    consolidatedVolume: { type: 'float64', description: 'Shares on and off exchange; null when unknown.' },
    consolidatedNotional: { type: 'float64', description: 'Dollars on and off exchange; null when unknown.' },
  },
  composition: {
    date: session,
    category: {
      type: 'text',
      nullable: false,
      description: 'Kind of execution, such as regular_way, average_price or derivatively_priced.',
    },
    volume: shares,
    notional: dollars,
    tradeCount,
    shareOfOffExchNotional: {
      ...number,
      protobuf: 'share_of_off_exchange_notional',
      description: "Fraction of the session's off-exchange dollars: 0.013 = 1.3 %.",
    },
  },
  concentration: {
    date: { ...session, description: 'Last session of the window.' },
    bucketMidpoint: dollars,
    bucketWidth: { ...number, description: 'Dollars; the bucket is midpoint ± width / 2.' },
    volume: shares,
    notional: dollars,
    tradeCount,
    distinctSessions: { ...count, description: 'Number of sessions in which the bucket traded.' },
    rankScore: { ...number, description: 'Share of dollars × share of sessions × 100.' },
    rank: { ...count, description: '1 = highest score.' },
    bucketCount: { ...count, description: 'Number of buckets published.' },
    distanceBps: {
      type: 'float64',
      description:
        "Distance from the last session's reference price, basis points; negative below it. Null without a reference price.",
    },
    lookbackSessions: { ...count, description: 'Number of sessions in the window.' },
  },
  profile: {
    date: session,
    priceThousandths: { type: 'int64', nullable: false, description: 'Price, thousandths of a dollar.' },
    volume: shares,
    notional: dollars,
    tradeCount,
  },
} as const satisfies Record<string, Columns>;
