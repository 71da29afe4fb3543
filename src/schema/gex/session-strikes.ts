import { strikeColumns } from '../../core/domain/gex/gex-columns.ts';
import { type GexStrike, strikeRows } from '../../resolvers/gex/gex.ts';
import type { SessionStrikes, SessionStrikesMeta } from '../../resolvers/gex/grid.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { metaOf } from '../meta-of.ts';

const SessionStrikesMetaType = metaOf<SessionStrikesMeta>(
  'SessionStrikesMeta',
  'market',
  "Metadata of the rows of a session's last capture.",
  (t) => ({
    underlying: t.expose('underlying', { type: 'Ticker', description: 'Ticker of the underlying.' }),
    date: t.expose('date', { type: 'SessionDate', description: 'Exchange session.' }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null if the session has no capture.',
    }),
    rowCount: t.exposeInt('rowCount', { description: 'Number of rows in the answer.' }),
  }),
);

// The route names one of them differently, and lacks another in rows by expiry.
const { deltaAdj, gex0dte, ...numbers } = strikeColumns;

const SessionStrikeInterface = builder.interfaceRef<GexStrike>('SessionStrike').implement({
  description: "A row of a session's last capture: net, or for one expiry.",
  resolveType: (row) => (row.expiry === null ? 'NetSessionStrike' : 'ExpirySessionStrike'),
  fields: (t) => ({
    strike: t.expose('strike', { type: 'StrikeThousandths', description: 'Strike, thousandths of a dollar.' }),
    ...columnFields(t, numbers),
    deltaAdjGex: t.exposeFloat('deltaAdj', { nullable: true, description: deltaAdj.description }),
  }),
});

builder.objectRef<GexStrike>('NetSessionStrike').implement({
  description: 'A row over all expiries.',
  interfaces: [SessionStrikeInterface],
  fields: (t) => columnFields(t, { gex0dte }),
});

builder.objectRef<GexStrike>('ExpirySessionStrike').implement({
  description: 'A row for one expiry.',
  interfaces: [SessionStrikeInterface],
  fields: (t) => ({
    expiry: t.field({ type: 'SessionDate', description: 'Expiry of the row.', resolve: (row) => row.expiry! }),
  }),
});

/** The rows of a session's last capture. */
export const SessionStrikesType = builder.objectRef<SessionStrikes>('SessionStrikes').implement({
  description: "The rows of a session's last capture.",
  fields: (t) => ({
    rows: t.field({
      type: [SessionStrikeInterface],
      size: { rows: 'strikesByExpiry' },
      description: 'Rows by strike and expiry if the capture has them, else net rows.',
      resolve: ({ capture }) => (capture ? strikeRows(capture) : []),
    }),
    meta: t.expose('meta', { type: SessionStrikesMetaType, description: 'Metadata of the answer.' }),
  }),
});
