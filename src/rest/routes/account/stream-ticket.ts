import { route } from '../../contract/route.ts';

// Contract notes 7.
export const streamTicket = route({
  method: 'POST',
  path: '/v2/stream/ticket',
  summary: 'Create a stream ticket',
  description:
    'A ticket opens a WebSocket at /v2/ws: it replaces the credential of this request. It can be used once, within 30 seconds; exp is its expiry time, epoch ms.',
  scopeGroup: 'account',
  needs: 'any',
  name: 'stream-ticket',
  operation: 'account/stream-ticket.graphql',
  graphql: 'mutation { createStreamTicket { ticket } }',
  answer: 'createStreamTicket',
  errors: [502],
  // A tool call cannot open a WebSocket.
  withoutTool: 'in any mode',
});
