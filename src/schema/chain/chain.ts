import {
  type ChainRow,
  type GreeksSource,
  type SolvedGreeks,
  type SolveOrigin,
  shownGreek,
} from '../../core/domain/chain/chain.ts';
import { chainColumns, greekColumns, type greekNames, quoteColumns } from '../../core/domain/chain/chain-columns.ts';
import { type Chain, type ChainMeta, chain } from '../../resolvers/chain/chain.ts';
import { chainRowOf } from '../../resolvers/chain/contract.ts';
import { type Expirations, type ExpirationsMeta, expirations } from '../../resolvers/chain/expirations.ts';
import { openInterestOf } from '../../resolvers/chain/open-interest.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { contractsOfExpiry } from '../cost.ts';
import { enumValues, snakeValues } from '../enum-values.ts';
import { instantArgs } from '../instant-args.ts';
import { SymbolType } from '../market/symbol.ts';
import { metaOf } from '../meta-of.ts';
import { captureNote, delayedSourceTime, QuoteTimeInterface } from '../quote-time.ts';
import { OptionContractType } from './contract.ts';

export const GreeksSourceEnum = builder.enumType('GreeksSource', {
  description: 'Source of implied volatilities and greeks.',
  values: enumValues<GreeksSource>({
    vendor: "The source's own.",
    solved: "Solved from the chain's quotes by the service.",
  }),
});

const SolveOriginEnum = builder.enumType('SolveOrigin', {
  description: 'Origin of the volatility that a contract of a capture was solved with.',
  values: snakeValues<SolveOrigin>({
    absent: 'No volatility: the contract is expired, adjusted, or neither quoted nor solved before.',
    outOfTheMoney: "The quote of the strike's out-of-the-money side.",
    inTheMoney: "The quote of the strike's in-the-money side.",
    interpolated: 'The solved strikes on either side.',
    previous: "The session's last solve of the contract.",
    source: "The source's own greeks.",
  }),
});

const SolvedGreeksType = builder.objectRef<SolvedGreeks>('SolvedGreeks').implement({
  description: "A contract's greeks as solved from its chain. The exposures of the capture are computed from them.",
  fields: (t) => ({
    ...columnFields(t, greekColumns, (text) => `${text} Null when unknown.`),
    origin: t.expose('origin', { type: SolveOriginEnum, description: 'Origin of the volatility.' }),
  }),
});

/** Options of the field of a greek of a chain's row. */
export const shownGreekField = (name: (typeof greekNames)[number]) => ({
  nullable: true as const,
  description: `${greekColumns[name].description} The source's; solved if the source gives none.`,
  resolve: (row: ChainRow) => shownGreek(row, name),
});

/** One contract's line of a chain. */
export const ChainRowType = builder.objectRef<ChainRow>('ChainRow').implement({
  description:
    "One contract's row in a chain capture. Null = not given by the source, and for greeks not solved either.",
  fields: (t) => ({
    contract: t.field({ type: OptionContractType, description: 'The contract.', resolve: (row) => row }),
    ...columnFields(t, quoteColumns),
    ...columnFields(t, { sharesPerContract: chainColumns.sharesPerContract }),
    iv: t.float(shownGreekField('iv')),
    delta: t.float(shownGreekField('delta')),
    gamma: t.float(shownGreekField('gamma')),
    theta: t.float(shownGreekField('theta')),
    vega: t.float(shownGreekField('vega')),
    solved: t.field({
      type: SolvedGreeksType,
      nullable: true,
      description:
        "Greeks as solved from the chain's quotes. Null if the capture was not solved: its exposures are then computed from the source's greeks.",
      resolve: ({ solved }) => solved ?? null,
    }),
  }),
});

builder.objectFields(OptionContractType, (t) => ({
  chainRow: t.field({
    type: ChainRowType,
    nullable: true,
    description: "The contract's row in the latest chain of the underlying; null if it is not listed there.",
    needs: 'symbol',
    scope: 'parent',
    price: { once: 1, each: 0.04 },
    resolve: (contract, _args, context) => chainRowOf(context, contract),
  }),
  openInterest: t.field({
    type: 'Long',
    nullable: true,
    description:
      'Open interest as of the prior close, contracts; from the latest chain or a newer publication. Null when unknown.',
    needs: 'symbol',
    scope: 'parent',
    price: { once: 1.5, each: 0.08 },
    resolve: (contract, _args, context) => openInterestOf(context, contract),
  }),
}));

const ChainMetaType = metaOf<ChainMeta>('ChainMeta', 'prices', 'Metadata of a chain.', (t) => ({
  sourceTime: t.expose('sourceTime', { type: 'EpochMs', nullable: true, description: delayedSourceTime }),
  underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
  rowCount: t.exposeInt('rowCount', { description: 'Number of rows in the answer.' }),
  greeksSource: t.expose('greeksSource', {
    type: GreeksSourceEnum,
    nullable: true,
    description:
      "Source of the rows' greeks: the vendor, or the solver if the source gives none. Null if no row has any, or if an older version stored the chain.",
  }),
  greeksFilled: t.exposeStringList('greeksFilled', {
    nullable: true,
    size: { rows: 4 },
    description:
      'Greeks that the source lacks, and that are computed at its volatility: delta, gamma, theta, vega. Null if there are none.',
  }),
  note: t.exposeString('note', { nullable: true, description: captureNote }),
}));

/** An option chain. */
export const ChainType = builder.objectRef<Chain>('Chain').implement({
  description: 'An option chain at one point in time.',
  interfaces: [QuoteTimeInterface],
  fields: (t) => ({
    spot: t.exposeFloat('spot', {
      nullable: true,
      description: 'Price of the underlying, dollars; null when unknown.',
    }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null if there is no chain.',
    }),
    partial: t.exposeBoolean('partial', {
      description:
        'True if the source returned only part of the chain, or it lists less than 70% of the last whole capture and is served because `at` is exactly its time.',
    }),
    rows: t.field({
      type: [ChainRowType],
      size: { rows: 'contracts' },
      description: 'Rows by expiry, strike, call before put.',
      resolve: ({ rows }) => rows,
    }),
    meta: t.expose('meta', { type: ChainMetaType, description: 'Metadata of the answer.' }),
  }),
});

const ExpirationsMetaType = metaOf<ExpirationsMeta>(
  'ExpirationsMeta',
  'market',
  'Metadata of a list of expirations.',
  (t) => ({
    count: t.exposeInt('count', { description: 'Number of dates in the answer.' }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain behind the list was captured, epoch ms; null if there is no chain.',
    }),
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    cached: t.exposeBoolean('cached', { description: 'True if served from a cache, which is at most a minute old.' }),
    note: t.exposeString('note', { nullable: true, description: captureNote }),
  }),
);

const ExpirationsType = builder.objectRef<Expirations>('Expirations').implement({
  description: 'Expiry dates of an option chain.',
  fields: (t) => ({
    dates: t.expose('dates', {
      type: ['SessionDate'],
      size: { rows: 'expiries' },
      description: 'Expiry dates, ascending.',
    }),
    meta: t.expose('meta', { type: ExpirationsMetaType, description: 'Metadata of the answer.' }),
  }),
});

const at =
  'Return the stored chain as of this time instead of the live one. For a bare date: the last chain of that date.';

builder.objectField(SymbolType, 'chain', (t) =>
  t.field({
    type: ChainType,
    nullable: true,
    scope: 'market.live',
    price: {
      once: 1,
      each: 0.1,
      sizes: ({ expiry }) => (expiry == null ? {} : { contracts: contractsOfExpiry }),
    },
    description: 'The latest option chain.',
    args: {
      ...instantArgs(at),
      expiry: t.arg({ type: 'SessionDate', description: 'Only this expiry.' }),
      strikeGte: t.arg({ type: 'StrikeThousandths', description: 'Lowest strike, inclusive.' }),
      strikeLte: t.arg({ type: 'StrikeThousandths', description: 'Highest strike, inclusive.' }),
    },
    resolve: ({ symbol }, args, context) => chain(context, symbol, args),
  }),
);

builder.objectField(SymbolType, 'expirations', (t) =>
  t.field({
    type: ExpirationsType,
    nullable: true,
    scope: 'market.reference',
    price: { once: 0.5, each: 0.02 },
    description: 'Listed expiry dates that have not settled. The list is refreshed at least every minute.',
    args: {
      ...instantArgs(at),
    },
    resolve: ({ symbol }, args, context) => expirations(context, symbol, args),
  }),
);
