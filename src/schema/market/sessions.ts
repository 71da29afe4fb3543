import type { DataOrigin } from '../../core/domain/dataset.ts';
import { type StoredSession, sessionLimits, storedSessions } from '../../resolvers/market/sessions.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';
import { SymbolType } from './symbol.ts';

export const DataOriginEnum = builder.enumType('DataOrigin', {
  description: 'Source of a stored session.',
  values: enumValues<DataOrigin>({
    sample: 'The sample market: all of it is simulated.',
    file: 'Vendor files.',
    live: 'A live tape or source; no file has replaced it yet.',
  }),
});

const StoredSessionType = builder.objectRef<StoredSession>('StoredSession').implement({
  description: 'A session of a symbol with stored data.',
  fields: (t) => ({
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session, New York.' }),
    origin: t.expose('origin', { type: DataOriginEnum, description: 'Source of the session.' }),
    bars: t.exposeBoolean('bars', { description: 'True if stock bars are stored.' }),
    chains: t.exposeBoolean('chains', { description: 'True if option chains are stored.' }),
    flow: t.exposeBoolean('flow', { description: 'True if option flow is stored.' }),
    offExchange: t.exposeBoolean('offExchange', { description: 'True if off-exchange figures are stored.' }),
  }),
});

builder.objectField(SymbolType, 'sessions', (t) =>
  t.field({
    type: [StoredSessionType],
    description: 'The latest sessions with stored data, newest first.',
    args: {
      last: t.arg.int({
        defaultValue: sessionLimits.usual,
        description: `Number of sessions. Default ${sessionLimits.usual}, at most ${sessionLimits.most}.`,
      }),
    },
    scope: 'market.reference',
    needs: 'symbol',
    price: { once: 2, each: 0.5, rows: sessionLimits.most },
    resolve: ({ symbol }, { last }, context) => storedSessions(context, symbol, last ?? sessionLimits.usual),
  }),
);
