import SchemaBuilder from '@pothos/core';
import RelayPlugin from '@pothos/plugin-relay';
import type { RequestContext } from '../resolvers/context.ts';
import type { FieldCost } from './cost.ts';
import './field-options.ts';
import {
  contextOfIds,
  decodeId,
  encodeId,
  idDescription,
  type NodeId,
  nodeSizes,
  nodeTypes,
  readNode,
} from './node-id.ts';

/** Input and output types of a numeric scalar, and of a textual one. */
interface NumberScalar {
  Input: number;
  Output: number;
}
interface TextScalar {
  Input: string;
  Output: string;
}

/** The builder of the graph: the context, and the scalars' types in code. */
export const builder = new SchemaBuilder<{
  Context: RequestContext;
  InferredFieldOptionsKind: 'Read';
  DefaultFieldNullability: false;
  DefaultEdgesNullability: false;
  DefaultNodeNullability: false;
  /** Fields of every connection besides its edges. */
  Connection: { totalCount: number };
  Scalars: {
    ID: TextScalar;
    EpochMs: NumberScalar;
    Long: NumberScalar;
    StrikeThousandths: NumberScalar;
    SessionDate: TextScalar;
    Ticker: TextScalar;
    OptionContractId: TextScalar;
    Instrument: TextScalar;
    PointInTime: TextScalar;
    CapturePoint: TextScalar;
    TimeZone: TextScalar;
    ClockTime: TextScalar;
    Timeframe: { Input: '1s' | '1m' | '5m' | '1h' | '1d'; Output: string };
    OptionTimeframe: { Input: '1m' | '5m'; Output: string };
    CountsByName: { Input: never; Output: Record<string, number> };
    ImportBody: { Input: Uint8Array; Output: never };
  };
}>({
  plugins: [RelayPlugin, 'fieldOptions'],
  defaultFieldNullability: false,
  relay: {
    encodeGlobalID: (typename, id) => encodeId(typename, String(id)),
    decodeGlobalID: (id) => decodeId(nodeTypes, id, 'id'),
    idFieldOptions: { description: idDescription },
    nodeTypeOptions: {
      description:
        'An object with a global id. Objects with the same id are the same object, so a client may merge their fields.',
    },
    nodeQueryOptions: {
      description:
        'The object with this id; null if there is none. Gives the same errors as the field that returned the id. For a nodeId use refetch.',
      args: { id: { description: 'The id of an object.' } },
      extensions: {
        scopeGroup: 'market.reference',
        cost: {
          each: ({ node = 0 }) => node,
          sizes: ({ id }) => nodeSizes(nodeTypes, [id]),
        } satisfies FieldCost<{ id: string }>,
        contextBelow: (_value: never, { id }: { id: string }, context: RequestContext) =>
          contextOfIds(context, [id], 'id'),
      },
      resolve: (_root, { id }, context) => readNode(nodeTypes, id as NodeId, context),
    },
    // Defined in node.ts, which counts ids before they are read.
    nodesQueryOptions: false,
    nodesOnConnection: {
      description: 'The items of the page.',
      size: { rows: 'page' },
    },
    edgesFieldOptions: {
      nullable: false,
      description: 'The items of the page with their cursors.',
      size: { rows: 'page' },
    },
    nodeFieldOptions: { nullable: false, description: 'The item.' },
    cursorFieldOptions: {
      description: 'Cursor; send it as after to continue after this item.',
      // A checksum.
      extensions: { cost: { each: 0.003 } },
    },
    pageInfoFieldOptions: { description: 'Position of the page in the list.' },
    // Subgraphs of a federated graph share it.
    pageInfoTypeOptions: { description: 'Position of a page in its list.', shareable: true },
    hasNextPageFieldOptions: { description: 'True if there is a next page.' },
    hasPreviousPageFieldOptions: { description: 'True if there is a previous page.' },
    startCursorFieldOptions: { description: 'Cursor of the first edge; null on an empty page.' },
    endCursorFieldOptions: {
      description: 'Cursor of the last edge, sent as after to read the next page; null on an empty page.',
    },
  },
});

builder.queryType({
  description:
    'All reads. Prices are dollars, times are epoch milliseconds, strikes are thousandths of a dollar. null means unknown.',
});

builder.mutationType({
  description:
    'All changes, under the same rules as REST. Fields run one after the other. A field that fails is null with an error at its path; the other fields are not affected.',
});
