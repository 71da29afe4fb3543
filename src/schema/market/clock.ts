import { type MarketClock, marketClock } from '../../core/domain/market-clock.ts';
import { builder } from '../builder.ts';
import { marketField } from './as-of.ts';

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
