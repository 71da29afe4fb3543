import { type CreatedStreamTicket, createStreamTicket } from '../../resolvers/account/stream-tickets.ts';
import { builder } from '../builder.ts';
import { writing } from '../cost.ts';
import { PlainMetaType } from '../response-meta.ts';

const CreateStreamTicketPayload = builder.objectRef<CreatedStreamTicket>('CreateStreamTicketPayload').implement({
  description: 'A ticket that opens a WebSocket at /v2/ws.',
  fields: (t) => ({
    ticket: t.exposeString('ticket', {
      description: 'The ticket. It can be used once, with any process of the service.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'EpochMs', description: 'Expiry time, epoch ms: 30 seconds from now.' }),
    meta: t.expose('meta', { type: PlainMetaType, description: 'Metadata of the answer.' }),
  }),
});

builder.mutationField('createStreamTicket', (t) =>
  t.field({
    type: CreateStreamTicketPayload,
    nullable: true,
    description: "Creates a ticket that replaces this request's credential when a WebSocket is opened at /v2/ws.",
    scope: 'account',
    price: writing,
    resolve: (_root, _args, context) => createStreamTicket(context),
  }),
);
