import type { RatePool } from '../../domain/request-rates.ts';
import type { RateState } from './rate.ts';

/**
 * Questions of a process to the one that counts for all. `ask` numbers its questions; a slot is given back by the
 * number it was asked with.
 */
export type LimitsQuestion =
  | { limits: 'rate'; ask: number; pool: RatePool; who: string; cost: number }
  | { limits: 'refund'; ask: number; pool: RatePool; who: string; requests: number }
  | { limits: 'slot'; ask: number; keyId: string }
  | { limits: 'leave'; ask: number };

/** The answer to a question: how the minute stands, or whether there was a slot. */
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

/** Counts for several processes, each known by a number. */
export interface LimitsServer {
  /** Answers a process's question. */
  answer(asker: number, question: LimitsQuestion, reply: (answer: LimitsAnswer) => void): Promise<void>;
  /** A process has ended: its slots are free. */
  forget(asker: number): void;
}
