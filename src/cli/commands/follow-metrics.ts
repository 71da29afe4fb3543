import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { FollowMetrics } from '../../observe/follow-metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../../store/rows/connection.ts';

/** Where lines come from. */
export interface Tape {
  pieces: AsyncIterable<Uint8Array>;
  /** So many pieces more, as they came, are stored. */
  onCommit(pieces: number): Promise<void>;
  close(): void;
}

async function* counted(pieces: AsyncIterable<Uint8Array>, metrics: FollowMetrics): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    metrics.taken(piece.byteLength);
    yield piece;
  }
}

/** Parts of a follower's metrics. */
interface FollowWorld {
  store: Store;
  config: Config;
  now: Clock;
  log: Logger;
  metricsPort: number | undefined;
}

/**
 * `tape`, and those who hear of it, telling metrics that are served at `metricsPort`, until `close`; as they are when
 * that is undefined.
 */
export async function measured<Line>(
  tape: Tape,
  onBadLine: (line: Line) => void,
  { store, config, now, log, metricsPort }: FollowWorld,
): Promise<{ tape: Tape; onBadLine: (line: Line) => void; close: () => Promise<void> }> {
  if (metricsPort === undefined) return { tape, onBadLine, close: async () => {} };
  const [{ createFollowMetrics }, { dataAges, serveMetrics }] = await Promise.all([
    import('../../observe/follow-metrics.ts'),
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
    close: served!.closer.close,
  };
}
