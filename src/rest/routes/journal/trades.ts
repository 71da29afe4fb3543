import { z } from 'zod';
import { journalTradeFields } from '../../../core/domain/journal.ts';
import { mergePatchBody, objectBody } from '../../contract/body.ts';
import { recordRoutes } from './records.ts';

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
const graphTrade = '{ accountId: "main", symbol: "SPY", side: "buy", qty: 1, price: 600.5 }';

/** Routes of the journal's trades (contract-notes 3). */
export const journalTradeRoutes = recordRoutes({
  noun: 'trade',
  absent: ['note'],
  fields: journalTradeFields,
  body,
  patchBody: mergePatchBody(patch, { name: 'JournalTradePatch', example: { qty: 12, note: null } }),
  cursor: 'MS4xNzk1MTg2ODAwMDAwIGV4YW1wbGUtMS5LelNxMnN5enVDTlU',
  list: {
    summary: 'Trades',
    description: 'Trades of the journal, latest first. Repeat with meta.cursor until it is absent.',
    graphql: '{ journalTrades { rows { id } } }',
    example: { shown: { params: { limit: '2' } } },
  },
  create: {
    summary: 'Create a trade',
    description:
      'Creates a trade. The id is generated if not sent; the time defaults to now. The journal account is created if it does not exist.',
    graphql: `mutation { createJournalTrade(trade: ${graphTrade}) { trade { id } } }`,
    example: { body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":10,"price":636.5}' },
  },
  replace: {
    summary: 'Create or replace a trade',
    description:
      'Replaces all fields of a trade, or creates it with this id. Sending the request again changes nothing.',
    graphql: `mutation { replaceJournalTrade(id: "{trade}", trade: ${graphTrade}) { trade { id } } }`,
    example: {
      params: { id: '{trade}' },
      body: '{"account_id":"main","symbol":"SPY","side":"buy","qty":20,"price":636.5}',
    },
  },
  patch: {
    summary: 'Update a trade',
    description:
      'A merge patch (RFC 7396): only the fields sent change; null clears a field. A cleared time becomes the current time.',
    graphql: 'mutation { patchJournalTrade(id: "{trade}", patch: { note: "held overnight" }) { trade { id } } }',
    example: { params: { id: '{trade}' }, body: '{"note":"held overnight"}' },
  },
  remove: {
    summary: 'Delete a trade',
    description: 'Deletes a trade. 404 if the id is unknown.',
    graphql: 'mutation { deleteJournalTrade(id: "{trade}") { deleted } }',
    example: { params: { id: '{trade}' } },
    errors: [404, 502],
  },
});
