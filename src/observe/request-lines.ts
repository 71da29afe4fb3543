import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { ClientAddress } from '../http/client-address.ts';
import { failureLines, lineBudget, unadmittedLines } from './line-budget.ts';

/** True if another log line about a request may be written. */
export interface RequestLines {
  /** About one that failed here. */
  failed(request: IncomingMessage): boolean;
  /** About one that took nothing from any caller's rate. */
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
