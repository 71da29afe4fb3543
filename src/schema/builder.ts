import SchemaBuilder from '@pothos/core';
import type { RequestContext } from '../resolvers/context.ts';

/** A scalar that is a number on the wire, and one that is a text. */
interface NumberScalar {
  Input: number;
  Output: number;
}
interface TextScalar {
  Input: string;
  Output: string;
}

/** The one builder of the graph: context, and what each scalar is in code. */
export const builder = new SchemaBuilder<{
  Context: RequestContext;
  DefaultFieldNullability: false;
  Scalars: {
    ID: TextScalar;
    EpochMs: NumberScalar;
    Long: NumberScalar;
    StrikeThousandths: NumberScalar;
    SessionDate: TextScalar;
    Ticker: TextScalar;
    OptionContractId: TextScalar;
    PointInTime: TextScalar;
    TimeZone: TextScalar;
    ClockTime: TextScalar;
    Timeframe: { Input: '1s' | '1m' | '5m' | '1h' | '1d'; Output: string };
    OptionTimeframe: { Input: '1m' | '5m'; Output: string };
    CountsByName: { Input: never; Output: Record<string, number> };
    MergePatch: { Input: Record<string, unknown>; Output: never };
    ImportBody: { Input: Uint8Array; Output: never };
  };
}>({
  defaultFieldNullability: false,
});

builder.queryType({
  description:
    'All reads. Prices are dollars, times are epoch milliseconds, strikes are thousandths of a dollar. null means unknown.',
});

builder.mutationType({
  description:
    'All changes, under the same rules as REST. Fields run one after the other. A field that fails is null with an error at its path; the other fields are not affected.',
});
