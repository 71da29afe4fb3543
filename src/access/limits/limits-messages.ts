import type { RatePool } from '../../platform/config/request-rates.ts';
import type { RateState } from './rate.ts';

/**
 * Questions of a process to the counting process. `ask` numbers its questions; a slot is freed by the number of its
 * question.
 */
export type LimitsQuestion =
  | { limits: 'rate'; ask: number; pool: RatePool; who: string; cost: number }
  | { limits: 'refund'; ask: number; pool: RatePool; who: string; requests: number }
  | { limits: 'slot'; ask: number; keyId: string }
  | { limits: 'leave'; ask: number };

/** The answer to a question: the state of the minute, or whether a slot was free. */
export interface LimitsAnswer {
  limits: 'answer';
  ask: number;
  state?: RateState;
  taken?: boolean;
}

/** True if a message between processes is about limits. */
export function isAboutLimits(message: unknown): message is LimitsQuestion | LimitsAnswer {
  return typeof message === 'object' && message !== null && 'limits' in message;
}

/** Counts for several processes, each identified by a number. */
export interface LimitsServer {
  /** Answers a process's question. */
  answer(asker: number, question: LimitsQuestion, reply: (answer: LimitsAnswer) => void): Promise<void>;
  /** Frees the slots of a process that has ended. */
  forget(asker: number): void;
}
