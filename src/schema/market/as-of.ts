import type { FieldRef } from '@pothos/core';
import { type MarketClock, marketClock } from '../../core/domain/market-clock.ts';
import { whenThere } from '../../platform/runtime/maybe-promise.ts';
import { contextAsOf } from '../../resolvers/as-of.ts';
import type { RequestContext } from '../../resolvers/context.ts';
import { builder } from '../builder.ts';

type Types = typeof builder.$inferSchemaTypes;

/** The market as of an instant, by the context in which its fields are resolved. */
interface MarketAsOf {
  context: RequestContext;
}

const AsOfType = builder.objectRef<MarketAsOf>('AsOf').implement({
  description:
    'The market at an instant: every field as of that instant, nothing later. Corrections, cancels and late trades count at the time of the trade they concern. Large trades appear with their last leg, cross-sections and signed volume by the minute, end-of-day lists at 20:00 New York of their session, off-exchange data at 06:00 of the next trading day. The caller needs the same access as now.',
  fields: (t) => ({
    at: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'The instant requested, epoch ms; null = live.',
      resolve: ({ context }) => context.past?.atMs ?? null,
    }),
    knownAt: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'The requested instant of knowledge, epoch ms; null = now.',
      resolve: ({ context }) => context.past?.knownMs ?? null,
    }),
    atEffective: t.field({
      type: 'EpochMs',
      nullable: true,
      description: 'The last whole second up to at, to which prices are known; null = live.',
      resolve: ({ context }) => (context.past && context.past.atMs !== null ? context.nowMs : null),
    }),
  }),
});

/** Adds a field of market data to `Query`, and to the market as of an instant. */
export function marketField(
  name: string,
  field: (t: PothosSchemaTypes.QueryFieldBuilder<Types, object>) => FieldRef<Types>,
): void {
  builder.queryField(name, field as never);
  builder.objectField(AsOfType, name, field as never);
}

builder.queryField('asOf', (t) =>
  t.field({
    type: AsOfType,
    nullable: true,
    description:
      'The market as of a past instant, and as it was known at another. Use aliases to compare several instants in one request. Without `at` the answer is live, so one document serves both.',
    args: {
      at: t.arg({
        type: 'PointInTime',
        description:
          "Instant of the answer; a date means its end. A time up to a minute ahead, and today's date, mean now; a later time is invalid_params. Default: live.",
      }),
      known: t.arg({
        type: 'PointInTime',
        description:
          'Data as it was known at this instant: before a later file, reconciliation or recompute replaced it. invalid_params before the oldest stored generation, and for off-exchange data. Default: now.',
      }),
      tz: t.arg({ type: 'TimeZone', description: 'Time zone of a local time or date. Default: America/New_York.' }),
    },
    scope: 'market.reference',
    price: {
      once: 0.1,
      // Knowledge of an instant shares no read with that of another: its registry is read as well.
      each: ({ known = 0 }) => known * 3,
      sizes: ({ at, known }) => ({ past: at == null && known == null ? 0 : 1, known: known == null ? 0 : 1 }),
    },
    extensions: { contextBelow: ({ context }: MarketAsOf) => context, startsInOrder: true },
    resolve(_root, args, context) {
      const below = contextAsOf(context, args);
      return whenThere(below.store.known?.check(), () => ({ context: below }));
    },
  }),
);

const MarketClockType = builder.objectRef<MarketClock>('MarketClock').implement({
  description: 'Regular hours of the US equity exchanges, by their calendar. All times are epoch ms.',
  fields: (t) => ({
    nowMs: t.expose('nowMs', { type: 'EpochMs', description: "The server's clock." }),
    isOpen: t.exposeBoolean('isOpen', { description: 'True if the regular session is in progress.' }),
    sessionDate: t.expose('sessionDate', {
      type: 'SessionDate',
      description: 'Latest session whose regular hours have begun.',
    }),
    openMs: t.expose('openMs', { type: 'EpochMs', description: 'Open of the session in sessionDate.' }),
    closeMs: t.expose('closeMs', { type: 'EpochMs', description: 'Close of the session in sessionDate.' }),
    nextOpenMs: t.expose('nextOpenMs', { type: 'EpochMs', description: 'Open of the next session.' }),
  }),
});

marketField('market', (t) =>
  t.field({
    type: MarketClockType,
    description: 'State of the market: open or closed, its latest session, and its next open.',
    scope: 'market.reference',
    price: { once: 0.1 },
    resolve: (_root, _args, { nowMs }) => marketClock(nowMs),
  }),
);
