import { greekNames, quoteColumns } from '../../core/domain/chain/chain-columns.ts';
import {
  type ContractSnapshot,
  type ContractSnapshots,
  type ContractSnapshotsMeta,
  contractSnapshots,
  maxContracts,
  volumeToOpenInterest,
} from '../../resolvers/chain/contract.ts';
import { builder } from '../builder.ts';
import { columnFields } from '../column-fields.ts';
import { itemsAsked } from '../cost.ts';
import { marketField } from '../market/as-of.ts';
import { metaOf } from '../meta-of.ts';
import { ChainRowType, shownGreekField } from './chain.ts';
import { OptionContractType } from './contract.ts';

const volumeToOi =
  'Unusual activity: contracts traded in the session so far, divided by open interest. Null if no contract is open or either is unknown.';

builder.objectField(ChainRowType, 'volumeToOi', (t) =>
  t.float({ nullable: true, description: volumeToOi, resolve: volumeToOpenInterest }),
);

const ContractSnapshotType = builder.objectRef<ContractSnapshot>('ContractSnapshot').implement({
  description:
    'A contract by the latest chain of its underlying. Values are null if it is not listed there, or not given by the source.',
  fields: (t) => ({
    contract: t.field({ type: OptionContractType, description: 'The contract.', resolve: (row) => row }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the chain was captured, epoch ms; null if it does not list the contract.',
    }),
    spot: t.exposeFloat('spot', {
      nullable: true,
      description: 'Price of the underlying at the capture, dollars; null when unknown.',
    }),
    ...columnFields(t, quoteColumns),
    ...Object.fromEntries(greekNames.map((name) => [name, t.float(shownGreekField(name))])),
    volumeToOi: t.float({ nullable: true, description: volumeToOi, resolve: volumeToOpenInterest }),
  }),
});

const ContractSnapshotsMetaType = metaOf<ContractSnapshotsMeta>(
  'ContractSnapshotsMeta',
  'market',
  'Metadata of several contracts.',
  (t) => ({
    count: t.exposeInt('count', { description: 'Number of rows.' }),
    restricted: t.expose('restricted', {
      type: ['OptionContractId'],
      nullable: true,
      size: { rows: 'page' },
      description: 'Contracts the caller may not read; their rows are empty. Null if there are none.',
    }),
  }),
);

const ContractSnapshotsType = builder.objectRef<ContractSnapshots>('ContractSnapshots').implement({
  description: 'Several contracts by the latest chains of their underlyings.',
  fields: (t) => ({
    rows: t.field({
      type: [ContractSnapshotType],
      size: { rows: 'page' },
      description: 'One row per requested contract, in the order of the request, including repeats.',
      resolve: ({ rows }) => rows,
    }),
    meta: t.expose('meta', { type: ContractSnapshotsMetaType, description: 'Metadata of the answer.' }),
  }),
});

marketField('contracts', (t) =>
  t.field({
    type: ContractSnapshotsType,
    nullable: true,
    description:
      'Several option contracts. A contract that is unknown, not listed or may not be read is an empty row, not an error.',
    args: {
      ids: t.arg({
        type: ['OptionContractId'],
        required: true,
        description: `Contract ids: O: and the OSI symbol, in any case; at most ${maxContracts}.`,
      }),
    },
    scope: 'market.live',
    price: {
      once: 2.5,
      each: ({ page }) => 0.02 * page,
      sizes: ({ ids }) => ({ page: itemsAsked(ids.length, maxContracts) }),
    },
    resolve: (_root, { ids }, context) => contractSnapshots(context, ids),
  }),
);
