import { captureColumns } from '../../core/domain/gex/gex-columns.ts';
import { type GexSession, gexSessionLimits, gexSessions } from '../../resolvers/gex/sessions.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { itemsAsked } from '../cost.ts';
import { FlipStatusEnum } from './capture.ts';
import { SymbolGexType } from './gex.ts';

const { spot, netGex, flipPoint, zeroGamma, callWall, putWall } = captureColumns;
/** The numbers of a capture that a session shows. */
const sessionColumns = { spot, netGex, flipPoint, zeroGamma, callWall, putWall };

const GexSessionType = builder.objectRef<GexSession>('GexSession').implement({
  description: "Dealer gamma exposure at the end of a session: figures of the session's last capture.",
  fields: (t) => ({
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session.' }),
    capturedAt: t.expose('capturedAt', { type: 'EpochMs', description: 'When the chain was captured, epoch ms.' }),
    ...columnFields(t, sessionColumns),
    flipStatus: t.expose('flipStatus', {
      type: FlipStatusEnum,
      nullable: true,
      description: 'Reliability of flipPoint. Null if an older version stored the capture.',
    }),
  }),
});

builder.objectField(SymbolGexType, 'sessions', (t) =>
  t.field({
    type: [GexSessionType],
    nullable: true,
    description: 'The latest sessions with captures, newest first: one row per session. Empty if there are none.',
    args: {
      first: t.arg.int({
        defaultValue: gexSessionLimits.usual,
        description: `Number of sessions. Default ${gexSessionLimits.usual}, at most ${gexSessionLimits.most}.`,
      }),
    },
    scope: 'analytics.gex',
    price: {
      once: 1.5,
      each: 0.5,
      rows: 'page',
      sizes: ({ first }) => ({ page: itemsAsked(first, gexSessionLimits.most, gexSessionLimits.usual) }),
    },
    resolve: ({ symbol }, { first }, context) => gexSessions(context, symbol, first ?? gexSessionLimits.usual),
  }),
);
