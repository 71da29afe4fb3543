import type { Logger } from 'pino';

/** Log lines a minute. */
export interface LineLimits {
  perAddress: number;
  inAll: number;
}

/** Lines about requests that failed here, each with what caused it. */
export const failureLines: LineLimits = { perAddress: 120, inAll: 600 };
/** Lines about requests that were not admitted, which nothing else limits. */
export const unadmittedLines: LineLimits = { perAddress: 1200, inAll: 6000 };

const minuteMs = 60_000;

/**
 * Limits the log lines that clients can cause. The returned function returns whether one more may be written for a
 * client address. What is suppressed in a minute is one line at its end, with how many lines it was.
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
