import type { Logger } from 'pino';
import type { RequestLines } from './request-lines.ts';
import type { RequestObserver } from './requests.ts';

// Monitoring requests these every few seconds; a 503 there reports a state and is not a failure.
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/**
 * Logs a line per request, at `debug`, or `info` if it failed in the server (the failure itself has its own line, with
 * its cause, under the same id). It contains nothing that a client wrote: no address, which may have a key in its
 * query, no header, no variable.
 */
export function requestLog(log: Logger, lines: RequestLines): RequestObserver {
  return (request) => (ended) => {
    const { method, route, status, aborted, details } = ended;
    const level = status >= 500 && !probes.has(route) ? 'info' : 'debug';
    if (!log.isLevelEnabled(level)) return;
    const mayWrite = level === 'info' ? lines.failed : lines.unadmitted;
    // Admitted requests at `debug` are limited by the rates of their callers.
    if ((level === 'info' || details.cost === undefined) && !mayWrite(request)) return;
    log[level](
      {
        requestId: request.id,
        method,
        route,
        status,
        ms: Math.round(ended.tookMs * 10) / 10,
        bytes: ended.bytes,
        ...(aborted && { aborted }),
        ...details,
      },
      'request',
    );
  };
}
