import { type GexSession, gexSessionLimits, gexSessions } from '../../resolvers/gex/sessions.ts';
import { builder } from '../builder.ts';
import { costs, itemsAsked } from '../cost.ts';
import { FlipStatusEnum } from './flip-status.ts';
import { SymbolGexType } from './gex.ts';

const older = 'or if an older version stored the capture';

const GexSessionType = builder.objectRef<GexSession>('GexSession').implement({
  description: "Dealer gamma exposure at the end of a session: figures of the session's last capture.",
  fields: (t) => ({
    sessionDate: t.expose('sessionDate', { type: 'SessionDate', description: 'Exchange session.' }),
    capturedAt: t.expose('capturedAt', { type: 'EpochMs', description: 'When the chain was captured, epoch ms.' }),
    spot: t.exposeFloat('spot', {
      nullable: true,
      description: 'Price of the underlying, dollars; null when unknown.',
    }),
    netGex: t.exposeFloat('netGex', { description: 'Sum of gex over all strikes, dollars per $1 move.' }),
    flipPoint: t.exposeFloat('flipPoint', {
      nullable: true,
      description: 'Price at which the cumulative net gex curve crosses zero, dollars; null if it does not.',
    }),
    flipStatus: t.expose('flipStatus', {
      type: FlipStatusEnum,
      nullable: true,
      description: 'How much flipPoint says. Null if an older version stored the capture.',
    }),
    zeroGamma: t.exposeFloat('zeroGamma', {
      nullable: true,
      description: 'Price near the spot at which re-priced net gamma changes sign, dollars; null if there is none.',
    }),
    callWall: t.expose('callWall', {
      type: 'StrikeThousandths',
      nullable: true,
      description: `Strike with the largest positive net gex, thousandths of a dollar; null if no strike has one, ${older}.`,
    }),
    putWall: t.expose('putWall', {
      type: 'StrikeThousandths',
      nullable: true,
      description: `Strike with the most negative net gex, thousandths of a dollar; null if no strike has one, ${older}.`,
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
    extensions: {
      scopeGroup: 'analytics.gex',
      ...costs<{ first?: number | null }, 'page'>({
        ...{ once: 1.5, each: 0.5, rows: 'page' },
        sizes: ({ first }) => ({ page: itemsAsked(first, gexSessionLimits.most, gexSessionLimits.usual) }),
      }),
    },
    resolve: ({ symbol }, { first }, context) => gexSessions(context, symbol, first ?? gexSessionLimits.usual),
  }),
);
