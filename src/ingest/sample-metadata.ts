import {
  type SampleShape,
  type SampleTask,
  samplePlan,
  samplePlanBesideTape,
  sampleVersion,
} from '../sample/market/plan.ts';
import { holdsOwnData } from '../store/account/own-data.ts';
import type { Store } from '../store/engine/connection.ts';
import { holdsMarketData, readMetadata, writeMetadata } from '../store/engine/metadata.ts';

const metadataKey = 'sample';

/** What a store says of the simulated market in it. */
export interface SampleMetadata extends SampleState {
  version: number;
}

/** How far the simulated market of a store is. */
export interface SampleState {
  /** The instant, epoch ms, up to which it has been brought; null while it is brought for the first time. */
  throughMs: number | null;
  /** While it is brought before all who ask: how far; absent otherwise. */
  loading?: SampleLoading;
}

/** What is missing of a simulated market that is being brought. */
export interface SampleLoading {
  /** How much is stored, whole percent. */
  percent: number;
  /** Whether its latest session is stored as a whole. */
  hasLatest: boolean;
}

/** What the store says of its simulated market; null = it holds none, and all prices in it are real. */
export async function sampleMetadata(store: Store): Promise<SampleMetadata | null> {
  const text = await readMetadata(store, metadataKey);
  return text === null ? null : (JSON.parse(text) as SampleMetadata);
}

/** Says how far the simulated market has been brought. */
export function writeSampleMetadata(store: Store, state: SampleState): Promise<void> {
  return writeMetadata(
    store,
    metadataKey,
    JSON.stringify({ version: sampleVersion, ...state } satisfies SampleMetadata),
  );
}

/** Stops saying that a simulated market is loaded: it is left as it is. */
export async function endSampleLoading(store: Store): Promise<void> {
  const metadata = await sampleMetadata(store);
  if (metadata?.loading === undefined) return;
  const { loading: _, ...left } = metadata;
  await writeMetadata(store, metadataKey, JSON.stringify(left satisfies SampleMetadata));
}

/** Returns what is missing of the store's simulated market; null once it is whole, and then it is not read again. */
export function watchSampleLoading(store: Store): () => Promise<SampleLoading | null> {
  let isWhole = false;
  return async () => {
    if (isWhole) return null;
    const loading = (await sampleMetadata(store))?.loading ?? null;
    isWhole = loading === null;
    return loading;
  };
}

/** What is to be done. */
export interface SampleWork {
  metadata: SampleMetadata | null;
  /** Empty when all is there. */
  tasks: SampleTask[];
}

/**
 * What is missing of the simulated market at `nowMs`; null when the store holds other data, or a market of another
 * version.
 */
export async function missingSample(
  store: Store,
  nowMs: number,
  { shape, besideTape = false }: { shape: SampleShape; besideTape?: boolean | undefined },
): Promise<SampleWork | null> {
  const metadata = await sampleMetadata(store);
  if (await holdsOwnData(store)) return null;
  if (metadata === null && (await holdsMarketData(store))) return null;
  if (metadata !== null && metadata.version !== sampleVersion) return null;
  const plan = besideTape ? samplePlanBesideTape : samplePlan;
  return { metadata, tasks: plan(nowMs, metadata?.throughMs ?? null, shape) };
}
