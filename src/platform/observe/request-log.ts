import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { ClientAddress } from '../http/client-address.ts';
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

/** Budgets of log lines about requests. Each method returns true if another line may be written. */
export interface RequestLines {
  /** For a request that failed in the server. */
  failed(request: IncomingMessage): boolean;
  /** For a request that was not charged to any caller's rate. */
  unadmitted(request: IncomingMessage): boolean;
}

/** The budgets of a server's log lines about requests, by client address. */
export function requestLines(log: Logger, clientAddress: ClientAddress): RequestLines {
  const failed = lineBudget(log, failureLines);
  const unadmitted = lineBudget(log, unadmittedLines);
  return {
    failed: (request) => failed(clientAddress(request)),
    unadmitted: (request) => unadmitted(clientAddress(request)),
  };
}

/** Maximum number of log lines per minute. */
interface LineLimits {
  perAddress: number;
  inAll: number;
}

/** Limits of lines about requests that failed in the server, each with its cause. */
export const failureLines: LineLimits = { perAddress: 120, inAll: 600 };
/** Limits of lines about requests that were not admitted, which nothing else limits. */
export const unadmittedLines: LineLimits = { perAddress: 1200, inAll: 6000 };

const minuteMs = 60_000;

/**
 * Limits the log lines that clients can cause. The returned function returns true if one more may be written for a
 * client address. The lines suppressed in a minute are reported as one line at its end, with their number.
 */
export function lineBudget(log: Logger, { perAddress, inAll }: LineLimits): (address: string) => boolean {
  const written = new Map<string, number>();
  let total = 0;
  let suppressed = 0;
  let counting = false;
  const endMinute = () => {
    counting = false;
    if (suppressed > 0) log.warn({ suppressed }, 'log lines about requests were suppressed in the last minute');
    written.clear();
    total = 0;
    suppressed = 0;
  };
  return (address) => {
    if (!counting) setTimeout(endMinute, minuteMs).unref();
    counting = true;
    const own = written.get(address) ?? 0;
    if (total >= inAll || own >= perAddress) {
      suppressed += 1;
      return false;
    }
    total += 1;
    written.set(address, own + 1);
    return true;
  };
}
