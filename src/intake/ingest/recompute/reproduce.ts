import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import type { ExpiryInputs } from '../../../core/domain/chain/capture-inputs.ts';
import { namesOf } from '../../../core/domain/columns.ts';
import { type GexCapture, gexColumns } from '../../../core/domain/gex/gex.ts';
import { strikeColumns } from '../../../core/domain/gex/gex-columns.ts';
import { chainCaptureOf, generationOf } from '../../../store/chain/chain-captures.ts';
import { latestGexCaptures, type StoredGexCapture } from '../../../store/gex/captures.ts';
import { gexInputsOf } from '../../../store/gex/inputs.ts';
import type { Store } from '../../../store/rows/connection.ts';
import type { Reader } from '../../../store/rows/reader.ts';
import { inTransaction } from '../../../store/rows/transaction.ts';
import { readKnownFrom } from '../../../store/superseded/generation.ts';
import { knownStore } from '../../../store/superseded/known-store.ts';
import { computeChain, settingsOf } from '../chains/write-chain.ts';

const comparedColumns = ['strike', 'expiry', ...namesOf(strikeColumns)] as const;

/** A capture by its underlying and time, epoch ms. */
export interface CaptureName {
  underlying: string;
  capturedAt: number;
}

/** A figure that is not what is stored; a list's item is named by its position. */
export interface FigureDifference {
  figure: string;
  stored: unknown;
  computed: unknown;
}

/** The outcome of computing a capture again. */
export interface Reproduction extends CaptureName {
  /**
   * `other version`: another version of the methodology computed it. `other inputs`: rates, dividends or terms of roots
   * that are stored now are not those that it was priced with, and its figures differ. `absent`: none is stored.
   */
  status: 'equal' | 'different' | 'other inputs' | 'other version' | 'absent';
  /** Number of figures that were compared. */
  figures: number;
  differences: FigureDifference[];
  /** Version of the definitions, and of the program, that the stored capture was computed with; null = unknown. */
  methodologyVersion: string | null;
  productVersion: string | null;
}

/** Compares figures by their bits: no two doubles are one but equal ones. */
class Comparison {
  readonly differences: FigureDifference[] = [];
  figures = 0;

  compare(figure: string, stored: unknown, computed: unknown): void {
    this.figures++;
    if (!Object.is(stored, computed)) this.differences.push({ figure, stored, computed });
  }

  /** Compares the values of two rows, in the fields of the stored one. */
  rows(name: string, stored: readonly object[], computed: readonly object[]): void {
    this.compare(`${name}.length`, stored.length, computed.length);
    for (const [i, row] of stored.slice(0, computed.length).entries()) this.fields(`${name}[${i}].`, row, computed[i]!);
  }

  fields(prefix: string, stored: object, computed: object): void {
    for (const [field, value] of Object.entries(stored)) {
      const other = (computed as Record<string, unknown>)[field] ?? null;
      if (value !== null && typeof value === 'object') this.fields(`${prefix}${field}.`, value, other ?? {});
      else this.compare(`${prefix}${field}`, value, other);
    }
  }
}

function compared(stored: StoredGexCapture, inputs: readonly ExpiryInputs[] | null, gex: GexCapture): Comparison {
  const found = new Comparison();
  const { strikes, byExpiry, expiries, profile, ...scalars } = stored;
  found.fields('', scalars, gex);
  for (const [name, rows, computed] of [
    ['strikes', strikes, gexColumns(gex.strikes)],
    ['by_expiry', byExpiry!, gexColumns(gex.byExpiry)],
  ] as const) {
    found.compare(`${name}.length`, rows.strike.length, computed.strike.length);
    for (const column of comparedColumns)
      for (const [i, value] of rows[column].entries())
        found.compare(`${name}[${i}].${column}`, value, computed[column][i]);
  }
  found.rows('expiries', expiries, gex.expiries);
  found.rows('profile', profile ?? [], gex.profile ?? []);
  if (inputs) found.rows('inputs', inputs, gex.inputs?.expiries ?? []);
  return found;
}

async function storedCapture(store: Store, { underlying, capturedAt }: CaptureName): Promise<StoredGexCapture | null> {
  const found = await latestGexCaptures(store, [underlying], capturedAt, { byExpiry: true });
  const capture = found.get(underlying);
  return capture?.capturedAt === capturedAt ? capture : null;
}

/**
 * Runs `work` with a reader of the lists as they were known when a capture was computed; null for a capture of before
 * that was stored, or if they are no longer.
 */
async function withLists<T>(
  store: Store,
  { underlying, capturedAt }: CaptureName,
  work: (lists: Reader | null) => Promise<T>,
): Promise<T> {
  const knownMs = await generationOf(store, underlying, capturedAt);
  const knownFromMs = await readKnownFrom(store);
  if (knownMs === null || (knownFromMs !== null && knownMs < knownFromMs)) return work(null);
  const snapshot = store.snapshots.lease();
  try {
    return await work(knownStore(store, { snapshot, changesBefore: null }, knownMs).primary);
  } finally {
    await snapshot.end();
  }
}

/**
 * Computes a capture again from its stored quotes, rates, dividends and terms of roots, with the same code, and
 * compares every figure with what is stored. Changes nothing. `rate` holds where the capture has none.
 */
export async function reproduce(store: Store, name: CaptureName, rate: number): Promise<Reproduction> {
  const nothing = { ...name, figures: 0, differences: [] };
  const stored = await storedCapture(store, name);
  if (stored === null) return { ...nothing, status: 'absent', methodologyVersion: null, productVersion: null };
  const [inputs] = await gexInputsOf(store, [name]);
  const versions = { methodologyVersion: stored.methodologyVersion, productVersion: inputs?.productVersion ?? null };
  if (stored.methodologyVersion !== methodologyVersion) return { ...nothing, ...versions, status: 'other version' };
  const { underlying, capturedAt } = name;
  return withLists(store, name, (lists) =>
    inTransaction(store, async (tx) => {
      const chain = (await chainCaptureOf(tx, underlying, capturedAt))!;
      const again = await computeChain(tx, chain, settingsOf(chain, stored, rate), lists ?? tx);
      const { gex } = again;
      if (gex === null) return { ...nothing, ...versions, status: 'different', figures: 1, differences: [noCapture] };
      const { figures, differences } = compared(stored, inputs?.expiries ?? null, gex);
      const before = chain.referenceVersion;
      const isOther = before != null && before !== again.chain.referenceVersion;
      const status = differences.length === 0 ? 'equal' : isOther ? 'other inputs' : 'different';
      return { ...nothing, ...versions, status, figures, differences };
    }),
  );
}

const noCapture: FigureDifference = { figure: 'capture', stored: 'published', computed: null };
