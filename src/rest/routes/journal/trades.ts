import { z } from 'zod';
import { requireTrade } from '../../../domain/journal/journal-trade.ts';
import { mergePatchBody, objectBody } from '../../contract/body.ts';
import { cursor, opaqueId, positiveInt } from '../../contract/params.ts';
import { type Route, route } from '../../contract/route.ts';

const path = '/v2/journal/trades';
const common = { scopeGroup: 'journal', absent: ['note'] } as const;

const described = z.looseObject({
  id: z.string().optional(),
  account_id: z.string(),
  symbol: z.string(),
  side: z.string().meta({ description: 'buy, sell, or any other text' }),
  qty: z.number().positive(),
  price: z.number().min(0),
  ts: z.union([z.int(), z.string()]).nullish(),
  note: z.string().nullish(),
});
const patch = described.omit({ id: true }).partial();
const body = objectBody(
  described,
  { name: 'JournalTradeInput', example: { account_id: 'main', symbol: 'SPY', side: 'buy', qty: 10, price: 600.5 } },
  { error: 'expected a trade object' },
);
type Sent = Record<string, unknown>;
const graphTrade = '{ accountId: "main", symbol: "SPY", side: "buy", qty: 1, price: 600.5 }';

/**
 * The fields of a body, checked. Without `withId` an id is skipped: the path's counts. The time stays as it was sent.
 */
function fields(sent: unknown, withId: boolean): { id: string | null; trade: Sent } {
  const given = withId ? (sent as Sent) : { ...(sent as Sent), id: null };
  const { id, journalAccountId, tsMs, ...rest } = requireTrade(given, 0);
  const isTimed = given.ts !== undefined && given.ts !== null && given.ts !== '';
  return { id, trade: { ...rest, accountId: journalAccountId, ts: isTimed ? tsMs : null } };
}

// Contract notes 3.
export const journalTradeRoutes: readonly Route[] = [
  route({
    ...common,
    path,
    summary: 'Trades',
    description: 'Trades of the journal, latest first. Repeat with meta.cursor until it is absent.',
    params: {
      limit: positiveInt.optional(),
      cursor: cursor(1024, 'MS4xNzk1MTg2ODAwMDAwIGV4YW1wbGUtMS5LelNxMnN5enVDTlU').optional(),
    },
    name: 'journal-trades',
    operation: 'journal/trades.graphql',
    graphql: '{ journalTrades { rows { id } } }',
    example: { shown: { params: { limit: '2' } } },
    answer: 'journalTrades',
    errors: [400, 502],
  }),
  route({
    ...common,
    method: 'POST',
    path,
    summary: 'Create a trade',
    description:
      'Creates a trade. The id is generated if not sent; the time defaults to now. The journal account is created if it does not exist.',
    params: {},
    body,
    name: 'create-journal-trade',
    operation: 'journal/create-trade.graphql',
    graphql: `mutation { createJournalTrade(trade: ${graphTrade}) { trade { id } } }`,
    example: { body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":10,"price":636.5}' },
    answer: 'createJournalTrade',
    variables: (_values, sent) => fields(sent, true),
    errors: [400, 413, 415, 502],
  }),
  route({
    ...common,
    method: 'PUT',
    path: `${path}/:id`,
    summary: 'Create or replace a trade',
    description:
      'Replaces all fields of a trade, or creates it with this id. Sending the request again changes nothing.',
    params: { id: opaqueId },
    body,
    name: 'replace-journal-trade',
    operation: 'journal/replace-trade.graphql',
    graphql: `mutation { replaceJournalTrade(id: "{trade}", trade: ${graphTrade}) { trade { id } } }`,
    example: {
      params: { id: '{trade}' },
      body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":20,"price":636.5}',
    },
    answer: 'replaceJournalTrade',
    variables: ({ id }, sent) => ({ ...fields(sent, false), id }),
    errors: [400, 413, 415, 502],
  }),
  route({
    ...common,
    method: 'PATCH',
    path: `${path}/:id`,
    summary: 'Update a trade',
    description:
      'A merge patch (RFC 7396): only the fields sent change; null clears a field. A cleared time becomes the current time.',
    params: { id: opaqueId },
    body: mergePatchBody(patch, { name: 'JournalTradePatch', example: { qty: 12, note: null } }),
    name: 'patch-journal-trade',
    operation: 'journal/patch-trade.graphql',
    graphql: 'mutation { patchJournalTrade(id: "{trade}", patch: { note: "held overnight" }) { trade { id } } }',
    example: { params: { id: '{trade}' }, body: '{"note":"held overnight"}' },
    answer: 'patchJournalTrade',
    variables: ({ id }, patch) => ({ id, patch }),
    errors: [400, 404, 413, 415, 502],
  }),
  route({
    ...common,
    method: 'DELETE',
    path: `${path}/:id`,
    summary: 'Delete a trade',
    description: 'Deletes a trade. 404 if the id is unknown.',
    params: { id: opaqueId },
    name: 'delete-journal-trade',
    operation: 'journal/delete-trade.graphql',
    graphql: 'mutation { deleteJournalTrade(id: "{trade}") { deleted } }',
    example: { params: { id: '{trade}' } },
    answer: 'deleteJournalTrade',
    errors: [404, 502],
  }),
];
