import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { ClientAddress } from '../http/client-address.ts';
import { failureLines, lineBudget, unadmittedLines } from './line-budget.ts';

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
