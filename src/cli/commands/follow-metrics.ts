import type { Logger } from 'pino';
import type { TapePlaces } from '../../intake/ingest/tail/follower.ts';
import type { Config } from '../../platform/config/config.ts';
import type { FollowMetrics } from '../../platform/observe/follow-metrics.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { Store } from '../../store/rows/connection.ts';

/** Source of lines. */
export interface Tape {
  pieces: AsyncIterable<Uint8Array>;
  places?: TapePlaces;
  /** Called when this many more chunks, in the order of arrival, are stored. */
  onCommit(pieces: number): Promise<void>;
  close(): void;
}

async function* counted(pieces: AsyncIterable<Uint8Array>, metrics: FollowMetrics): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    metrics.taken(piece.byteLength);
    yield piece;
  }
}

/** Dependencies of a follower's metrics. */
interface FollowWorld {
  store: Store;
  config: Config;
  now: Clock;
  log: Logger;
  metricsPort: number | undefined;
}

/**
 * Wraps `tape` and its listeners so that they update metrics, which are served at `metricsPort` until `close`; returns
 * them unchanged if that is undefined.
 */
export async function measured<Line>(
  tape: Tape,
  onBadLine: (line: Line) => void,
  { store, config, now, log, metricsPort }: FollowWorld,
): Promise<{ tape: Tape; onBadLine: (line: Line) => void; onLate: () => void; close: () => Promise<void> }> {
  if (metricsPort === undefined) return { tape, onBadLine, onLate: () => {}, close: async () => {} };
  const [{ createFollowMetrics }, { dataAges, serveMetrics }] = await Promise.all([
    import('../../platform/observe/follow-metrics.ts'),
    import('../server/observing.ts'),
  ]);
  const metrics = createFollowMetrics(dataAges(store, now));
  const served = await serveMetrics(metrics, { ...config, metricsPort }, '--metrics-port');
  log.info(`metrics are at ${served!.url}`);
  return {
    tape: {
      ...tape,
      pieces: counted(tape.pieces, metrics),
      onCommit(pieces) {
        metrics.committed(now());
        return tape.onCommit(pieces);
      },
    },
    onBadLine(line) {
      metrics.badLine();
      onBadLine(line);
    },
    onLate: metrics.late,
    close: served!.closer.close,
  };
}
