import type { Logger } from 'pino';

/** Maximum number of log lines per minute. */
export interface LineLimits {
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
