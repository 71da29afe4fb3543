import {
  type JournalPosition,
  type JournalPositions,
  journalPositions,
  maxPositions,
  type PositionGreeks,
  positionGreeks,
} from '../../resolvers/journal/positions.ts';
import { builder } from '../builder.ts';
import { OptionContractType } from '../chain/contract.ts';
import { itemsAsked } from '../cost.ts';
import { SymbolType } from '../market/symbol.ts';
import { scopeGroup } from './records.ts';

const PositionGreeksType = builder.objectRef<PositionGreeks>('PositionGreeks').implement({
  description: 'Greeks of a whole position: those of its contract by the last chain, times quantity and multiplier.',
  fields: (t) => ({
    delta: t.exposeFloat('delta', { nullable: true, description: 'Shares; for a position in shares, their number.' }),
    gamma: t.exposeFloat('gamma', { nullable: true, description: 'Shares per $1 move.' }),
    theta: t.exposeFloat('theta', { nullable: true, description: 'Dollars a day.' }),
    vega: t.exposeFloat('vega', { nullable: true, description: 'Dollars per vol point.' }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Why the greeks are unknown; null if they are known.',
    }),
  }),
});

const JournalPositionType = builder.objectRef<JournalPosition>('JournalPosition').implement({
  description: "Position in an instrument, by the caller's journal.",
  fields: (t) => ({
    instrument: t.expose('instrument', { type: 'Instrument', description: 'Ticker, or contract id.' }),
    qty: t.exposeFloat('qty', {
      description:
        'Shares or contracts bought less those sold; negative = short. Shares are adjusted for splits between the trades and the instant.',
    }),
    symbol: t.field({
      type: SymbolType,
      description: 'The symbol and its fields at the instant; for a contract, its underlying.',
      resolve: ({ symbol }) => ({ symbol }),
    }),
    contract: t.expose('contract', {
      type: OptionContractType,
      nullable: true,
      description: 'The contract and its fields at the instant; null for shares.',
    }),
    greeks: t.field({
      type: PositionGreeksType,
      nullable: true,
      description: 'Greeks of the whole position at the instant.',
      scope: 'analytics.vol',
      price: { once: 2, each: 0.05 },
      resolve: (position, _args, context) => positionGreeks(context, position),
    }),
  }),
});

const JournalPositionsType = builder.objectRef<JournalPositions>('JournalPositions').implement({
  description: "Positions at an instant, by the caller's journal.",
  fields: (t) => ({
    at: t.expose('atMs', { type: 'EpochMs', description: 'The instant, epoch ms.' }),
    rows: t.expose('rows', {
      type: [JournalPositionType],
      size: { rows: 'page' },
      description: 'Positions ascending by instrument. Expired contracts are omitted.',
    }),
    total: t.exposeInt('total', { description: 'Number of positions, including those not in rows.' }),
    undirected: t.exposeInt('undirected', {
      description: 'Number of trades whose side neither buys nor sells: they are in no position.',
    }),
  }),
});

builder.queryField('journalPositions', (t) =>
  t.field({
    type: JournalPositionsType,
    nullable: true,
    description: "Positions by the caller's journal, now or at an instant, with greeks.",
    args: {
      first: t.arg.int({ required: true, description: `Number of positions, at most ${maxPositions}.` }),
      accountId: t.arg.id({ description: 'Only trades of this journal account. Default: all.' }),
      at: t.arg({ type: 'PointInTime', description: 'The instant; a date means its end. Default: now.' }),
      tz: t.arg({ type: 'TimeZone', description: 'Time zone of a local time or date. Default: America/New_York.' }),
    },
    scope: scopeGroup,
    price: {
      once: 2.5,
      sizes: ({ first }) => ({ page: itemsAsked(first, maxPositions) }),
    },
    extensions: { contextBelow: ({ context }: JournalPositions) => context },
    resolve: (_root, args, context) => journalPositions(context, args),
  }),
);
