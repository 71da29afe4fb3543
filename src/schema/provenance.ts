import type { GenerationMaker, LiveLines } from '../core/domain/generation.ts';
import type { RequestContext } from '../resolvers/context.ts';
import { type Provenance, provenanceOf, type ShownFile } from '../resolvers/provenance.ts';
import type { ResponseMeta } from '../resolvers/response-meta.ts';
import { builder } from './builder.ts';
import { enumValues } from './enum-values.ts';
import { FlowCoverageType } from './flow/flow.ts';
import { PlainMetaType } from './response-meta.ts';

const MakerEnum = builder.enumType('ProvenanceMaker', {
  description: 'Processes that make stored data.',
  values: enumValues<GenerationMaker>({
    file: 'Read from files.',
    reconciliation: 'Rebuilt from the full tape of the session.',
    recompute: 'Computed again from stored data.',
    live: 'Read from a live tape as it arrived.',
  }),
});
const OriginEnum = builder.enumType('ProvenanceOrigin', {
  description: 'Origin of stored data.',
  values: enumValues<Provenance['origin']>({
    simulated: 'The simulated sample market.',
    real: 'Files or live tapes of the operator.',
  }),
});

const FileType = builder.objectRef<ShownFile>('ProvenanceFile').implement({
  description: 'A file that the data was read from.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: true, description: 'Base name; null if the caller may not see it.' }),
    sha256: t.exposeString('sha256', {
      nullable: true,
      description: 'SHA-256 of its content, unpacked; hexadecimal. Null if an older version stored it.',
    }),
    lines: t.exposeInt('lines', {
      nullable: true,
      description: 'Number of lines after the header. Null for JSON, or if an older version stored it.',
    }),
  }),
});

const LinesType = builder
  .objectRef<Omit<LiveLines, 'source'> & { source: string | null }>('ProvenanceLines')
  .implement({
    description: 'Lines of a live tape that the data was made from.',
    fields: (t) => ({
      source: t.exposeString('source', {
        nullable: true,
        description: 'Name of the tape; null if the caller may not see it.',
      }),
      fromLine: t.expose('fromLine', {
        type: 'Long',
        description: 'Number of the first line that the data can be from, counted from 1.',
      }),
      throughLine: t.expose('throughLine', {
        type: 'Long',
        nullable: true,
        description: 'Number of the last line that the data can be from. Null while the tape is followed.',
      }),
    }),
  });

type Before = NonNullable<Provenance['supersedes']>;
const twoFiles = { rows: 2 };
const made = { type: MakerEnum, description: 'Process that made the data.' } as const;
const ingested = { type: 'EpochMs', description: 'When the data was stored, epoch ms.' } as const;
const noFiles = 'Files that the data was read from; empty for live data.';

const BeforeType = builder.objectRef<Before>('ProvenanceBefore').implement({
  description: 'Stored data that was replaced.',
  fields: (t) => ({
    made: t.expose('made', made),
    ingestedAt: t.expose('ingestedMs', ingested),
    files: t.expose('files', { type: [FileType], size: twoFiles, description: noFiles }),
    live: t.expose('live', {
      type: LinesType,
      nullable: true,
      description: 'Live lines that the data was from; null for files.',
    }),
  }),
});

/** Provenance of a symbol's data of a session. */
export const ProvenanceType = builder.objectRef<Provenance>('Provenance').implement({
  description: "Provenance of a symbol's stored data of a session.",
  fields: (t) => ({
    dataset: t.exposeString('dataset', {
      description: 'Dataset, such as option-trades or chain; greeks = minute solves.',
    }),
    symbol: t.expose('symbol', { type: 'Ticker', description: 'Ticker; for options, that of the underlying.' }),
    session: t.expose('session', { type: 'SessionDate', description: 'Session of the data, or the first of several.' }),
    throughSession: t.expose('throughSession', {
      type: 'SessionDate',
      description: 'Last session of the data; differs from session for files of daily bars.',
    }),
    capturedAt: t.expose('capturedAt', {
      type: 'EpochMs',
      nullable: true,
      description: 'Time of the capture, epoch ms; null for other data.',
    }),
    made: t.expose('made', made),
    ingestedAt: t.expose('ingestedMs', ingested),
    files: t.expose('files', { type: [FileType], size: twoFiles, description: noFiles }),
    live: t.expose('live', {
      type: LinesType,
      nullable: true,
      description: 'Live lines that the data is from; null for files.',
    }),
    supersedes: t.expose('supersedes', {
      type: BeforeType,
      nullable: true,
      description: 'Data that this data replaced; null if it is the first, or if that is not known.',
    }),
    methodologyVersion: t.exposeString('methodologyVersion', {
      nullable: true,
      description: 'Version of the definitions that the data was computed with. Null if an older version stored it.',
    }),
    productVersion: t.exposeString('productVersion', {
      nullable: true,
      description: 'Version of the program that stored it. Null if an older version did.',
    }),
    coverage: t.expose('coverage', {
      type: FlowCoverageType,
      nullable: true,
      description: 'Observed part of the option tape; null for other data.',
    }),
    sealedAt: t.expose('sealedMs', {
      type: 'EpochMs',
      nullable: true,
      description: 'When the session was sealed, epoch ms; null if it may still be changed.',
    }),
    origin: t.expose('origin', { type: OriginEnum, description: 'Simulated or real.' }),
  }),
});

/** Cost of the provenance of an answer or a node. */
export const provenanceCost = { once: 3, each: 0.3, rows: 'generations' } as const;
/** Description of the field. */
export const provenanceText =
  'Files or live lines that the answer is from, newest sessions first, at most 50. Null if the operator does not serve provenance, or if the answer is not of market data.';

const ofMeta = async ({ sources }: ResponseMeta, context: RequestContext) =>
  sources ? provenanceOf(context, await sources()) : null;

/** The interface of metadata that says what the answer was made from. */
export const ProvenancedInterface = builder.interfaceRef<ResponseMeta>('Provenanced').implement({
  description: 'Metadata of an answer of market data.',
  fields: (t) => ({
    provenance: t.field({
      type: [ProvenanceType],
      nullable: true,
      scope: 'parent',
      price: provenanceCost,
      description: provenanceText,
      resolve: (meta: ResponseMeta, _args: object, context: RequestContext) => ofMeta(meta, context),
    }),
  }),
});

PlainMetaType.addInterfaces([ProvenancedInterface]);
