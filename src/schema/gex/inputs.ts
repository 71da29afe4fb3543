import type { ExpiryInputs, PricedDividend } from '../../core/domain/chain/capture-inputs.ts';
import { type GexInputs, gexInputs, type InputFile } from '../../resolvers/gex/inputs.ts';
import { provenanceOf } from '../../resolvers/provenance.ts';
import { captureSource } from '../../resolvers/source-keys.ts';
import { builder } from '../builder.ts';
import { enumValues } from '../enum-values.ts';
import { ProvenanceType, provenanceCost, provenanceText } from '../provenance.ts';
import { QuoteTimeInterface } from '../quote-time.ts';
import { GexCaptureType } from './capture.ts';

const DividendSourceEnum = builder.enumType('DividendSource', {
  description: 'Origin of a dividend that options are priced with.',
  values: enumValues<PricedDividend['source']>({
    dataset: 'Loaded by the operator.',
    inferred: "Read off the chain's own quotes on the eve of the ex-date.",
  }),
});

const PricedDividendType = builder.objectRef<PricedDividend>('PricedDividend').implement({
  description: 'The dividend that the contracts of an expiry are priced with.',
  fields: (t) => ({
    amount: t.exposeFloat('amount', {
      description:
        "Dollars a share: the sum of dividends whose ex-date is after the quotes and not after the contracts' last session.",
    }),
    exDate: t.expose('exDate', { type: 'SessionDate', description: 'The first ex-date.' }),
    source: t.expose('source', { type: DividendSourceEnum, description: 'Origin of the amount.' }),
  }),
});

const ExpiryInputsType = builder.objectRef<ExpiryInputs>('GexExpiryInputs').implement({
  description: 'Pricing inputs of the contracts of one root and expiry.',
  fields: (t) => ({
    expiry: t.expose('expiry', { type: 'SessionDate', description: 'Expiry date.' }),
    root: t.exposeString('root', { description: 'OSI root of the contracts.' }),
    years: t.exposeFloat('years', {
      description: "From the time of the quotes to the contracts' last instant, years of 365 days.",
    }),
    rate: t.exposeFloat('rate', { description: 'Risk-free rate, continuous, a fraction a year.' }),
    forward: t.exposeFloat('forward', { description: 'Forward price, dollars.' }),
    dividendYield: t.exposeFloat('dividendYield', {
      description: 'Yield beyond the known dividends, continuous, a fraction a year.',
    }),
    dividend: t.expose('dividend', {
      type: PricedDividendType,
      nullable: true,
      description: 'Dividend up to the expiry; null when none is known.',
    }),
  }),
});

const SourceFileType = builder.objectRef<InputFile>('SourceFile').implement({
  description: 'A file that a capture was computed from.',
  fields: (t) => ({
    dataset: t.exposeString('dataset', {
      description: 'Dataset of the file: chain, option-trades, option-quotes, rates or roots.',
    }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'Base name; null if the caller may not see it.',
    }),
    sha256: t.exposeString('sha256', { description: 'SHA-256 of its content, unpacked; hexadecimal.' }),
    lines: t.exposeInt('lines', {
      nullable: true,
      description: 'Number of lines after the header. Null for JSON, or if an older version stored it.',
    }),
  }),
});

const GexInputsType = builder.objectRef<GexInputs>('GexInputs').implement({
  description: 'Inputs of a capture, besides the quotes of its chain.',
  interfaces: [QuoteTimeInterface],
  fields: (t) => ({
    methodologyVersion: t.exposeString('methodologyVersion', {
      description: 'Version of the definitions used to compute the figures.',
    }),
    productVersion: t.exposeString('productVersion', { description: 'Version of the program that computed it.' }),
    files: t.field({
      type: [SourceFileType],
      price: { once: 1.5, each: 0.1, rows: 4 },
      description:
        "Files that the chain was read from; the session's option tape and quotes, if earlier solves fill its gaps; and the lists of rates and roots in force when it was stored. Empty if it was recorded live.",
      resolve: ({ files }) => files,
    }),
    expiries: t.expose('expiries', {
      type: [ExpiryInputsType],
      size: { rows: 'expiries' },
      description: 'By expiry, then root.',
    }),
  }),
});

builder.objectField(GexCaptureType, 'inputs', (t) =>
  t.field({
    type: GexInputsType,
    nullable: true,
    scope: 'parent',
    price: { once: 1.5, each: 0.5 },
    description: 'Inputs that the capture was computed from; null if an older version stored the capture.',
    resolve: (capture, _args, context) => gexInputs(context, capture),
  }),
);

builder.objectField(GexCaptureType, 'provenance', (t) =>
  t.field({
    type: [ProvenanceType],
    nullable: true,
    scope: 'parent',
    price: provenanceCost,
    description: provenanceText,
    resolve: (capture, _args, context) => provenanceOf(context, captureSource(capture.underlying, capture)),
  }),
);
