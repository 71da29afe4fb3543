import {
  type SampleShape,
  type SampleTask,
  samplePlan,
  samplePlanBesideTape,
  sampleVersion,
} from '../sample/market/plan.ts';
import { holdsOwnData } from '../store/account/sample-key.ts';
import { unlessRunning } from '../store/rows/advisory-lock.ts';
import type { Store } from '../store/rows/connection.ts';
import { holdsMarketData, readMetadata, writeMetadata } from '../store/rows/metadata.ts';

const metadataKey = 'sample';

/** Metadata of the simulated market in a store. */
export interface SampleMetadata extends SampleState {
  version: number;
}

/** State of the simulated market of a store. */
export interface SampleState {
  /** The instant, epoch ms, up to which it is stored; null while it is first loaded. */
  throughMs: number | null;
  /** Loading progress while it is loaded in a served store; absent otherwise. */
  loading?: SampleLoading;
}

/** Progress of loading a simulated market. */
export interface SampleLoading {
  /** Stored share, whole percent. */
  percent: number;
  /** True if its latest session is completely stored. */
  hasLatest: boolean;
}

/** Metadata of the store's simulated market; null = it has none, and all its prices are real. */
export async function sampleMetadata(store: Store): Promise<SampleMetadata | null> {
  const text = await readMetadata(store, metadataKey);
  return text === null ? null : (JSON.parse(text) as SampleMetadata);
}

/** Writes the state of the simulated market. */
export function writeSampleMetadata(store: Store, state: SampleState): Promise<void> {
  return writeMetadata(
    store,
    metadataKey,
    JSON.stringify({ version: sampleVersion, ...state } satisfies SampleMetadata),
  );
}

/** The advisory lock of the process that loads the simulated market. */
export const sampleLock = 'sample market';

/**
 * Announces to all processes of the store that its simulated market is incomplete, before it is loaded. An announcement
 * of another loading process is not changed.
 */
export async function announceSampleLoading(store: Store, now: () => number, shape: SampleShape): Promise<void> {
  await unlessRunning(store, sampleLock, async () => {
    // Another process may have loaded everything since the check.
    const missing = await missingSample(store, now(), { shape, besideTape: true });
    if (missing === null || missing.tasks.length === 0) return;
    const loading = { percent: 0, hasLatest: false };
    await writeSampleMetadata(store, { throughMs: missing.metadata?.throughMs ?? null, loading });
  });
}

/** Withdraws the announcement: the market is left as it is. */
export async function endSampleLoading(store: Store): Promise<void> {
  const metadata = await sampleMetadata(store);
  if (metadata?.loading === undefined) return;
  const { loading: _, ...left } = metadata;
  await writeMetadata(store, metadataKey, JSON.stringify(left satisfies SampleMetadata));
}

/** Returns the loading state of the store's simulated market; null once complete, after which it is not read again. */
export function watchSampleLoading(store: Store): () => Promise<SampleLoading | null> {
  let isWhole = false;
  return async () => {
    if (isWhole) return null;
    const loading = (await sampleMetadata(store))?.loading ?? null;
    isWhole = loading === null;
    return loading;
  };
}

/** The work to do. */
export interface SampleWork {
  metadata: SampleMetadata | null;
  /** Empty if nothing is missing. */
  tasks: SampleTask[];
}

/**
 * Missing parts of the simulated market at `nowMs`; null if the store holds other data, or a market of another version.
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
