import type {
  CaptureInputs,
  ExpiryInputs,
  PricedDividend,
  SourceFile,
} from '../../core/domain/chain/capture-inputs.ts';
import type { GexCapture } from '../../core/domain/gex/gex.ts';
import { dateOfEpochDay, epochDay } from '../../core/domain/market-time.ts';
import { readFrom, type Store } from '../rows/connection.ts';
import { anyOf } from '../rows/models/any-of.ts';
import { selection } from '../rows/models/columns.ts';
import { numbered } from '../rows/models/numbered-rows.ts';
import { findRows } from '../rows/models/sets.ts';
import { decodeBlock, encodeBlock, measures, numbers, texts } from '../series/codec.ts';

/** Inputs of a stored capture, and the file of its chain. */
export interface StoredInputs extends CaptureInputs {
  /** Null if unknown, for example for a chain recorded live. */
  file: SourceFile | null;
}

/** The inputs of a capture's expiries as a column block. */
export function encodeInputs(expiries: readonly ExpiryInputs[]): Uint8Array {
  const number = (read: (row: ExpiryInputs) => number) => Float64Array.from(expiries, read);
  const dividend = (read: (paid: PricedDividend) => number) =>
    number((row) => (row.dividend === null ? Number.NaN : read(row.dividend)));
  return encodeBlock({
    expiry: number(({ expiry }) => epochDay(expiry)),
    root: expiries.map(({ root }) => root),
    years: number(({ years }) => years),
    rate: number(({ rate }) => rate),
    forward: number(({ forward }) => forward),
    dividendYield: number(({ dividendYield }) => dividendYield),
    dividendAmount: dividend(({ amount }) => amount),
    dividendExDate: dividend(({ exDate }) => epochDay(exDate)),
    dividendInferred: dividend(({ source }) => Number(source === 'inferred')),
    onForwards: number(({ followsSpot }) => (followsSpot === undefined ? Number.NaN : Number(!followsSpot))),
  });
}

/** The inputs of a block. */
export function decodeInputs(payload: Uint8Array): ExpiryInputs[] {
  const columns = decodeBlock(payload);
  const [expiry, years, rate] = ['expiry', 'years', 'rate'].map((name) => numbers(columns, name));
  const [forward, dividendYield] = ['forward', 'dividendYield'].map((name) => numbers(columns, name));
  const [amount, exDate, inferred] = ['dividendAmount', 'dividendExDate', 'dividendInferred'].map((name) =>
    measures(columns, name),
  );
  const dividendAt = (i: number): PricedDividend | null =>
    Number.isNaN(amount![i]!)
      ? null
      : {
          amount: amount![i]!,
          exDate: dateOfEpochDay(exDate![i]!),
          source: inferred![i] === 1 ? 'inferred' : 'dataset',
        };
  // Captures of earlier versions have no such column.
  const onForwards = columns.onForwards === undefined ? null : measures(columns, 'onForwards');
  return texts(columns, 'root').map((root, i) => ({
    expiry: dateOfEpochDay(expiry![i]!),
    root,
    years: years![i]!,
    rate: rate![i]!,
    forward: forward![i]!,
    dividendYield: dividendYield![i]!,
    dividend: dividendAt(i),
    ...(onForwards && !Number.isNaN(onForwards[i]) && { followsSpot: onForwards[i] === 0 }),
  }));
}

/** Inputs of each of these captures, in order; null for one stored without them. Two statements. */
export async function gexInputsOf(
  store: Store,
  captures: readonly Pick<GexCapture, 'underlying' | 'capturedAt'>[],
): Promise<(StoredInputs | null)[]> {
  const by = ['underlying', 'capturedAt'] as const;
  const underlyings = new Set(captures.map(({ underlying }) => underlying));
  const [computed, chains] = await Promise.all([
    findRows(readFrom(store, 'gex', underlyings), 'GexCapture', { by, keys: captures }, [
      ...by,
      'inputs',
      'productVersion',
    ]),
    // Reads every combination of underlying and instant: a few more than requested, at no extra cost.
    readFrom(store, 'chain', underlyings).prisma.chainCapture.findMany({
      where: { underlying: anyOf(underlyings), capturedAt: anyOf(captures.map(({ capturedAt }) => capturedAt)) },
      select: selection([...by, 'fileName', 'fileHash']),
    }),
  ]);
  const keyOf = (row: (typeof captures)[number]) => `${row.underlying} ${row.capturedAt}`;
  const inputs = new Map(computed.map((row) => [keyOf(row), row]));
  const files = new Map(
    chains.map(numbered).map(({ fileName: name, fileHash: sha256, ...key }) => [keyOf(key), { name, sha256 }]),
  );
  return captures.map((capture) => {
    const { inputs: payload = null, productVersion = null } = inputs.get(keyOf(capture)) ?? {};
    if (payload === null || productVersion === null) return null;
    const { name = null, sha256 = null } = files.get(keyOf(capture)) ?? {};
    const file = name === null || sha256 === null ? null : { name, sha256 };
    return { productVersion, expiries: decodeInputs(payload), file };
  });
}
