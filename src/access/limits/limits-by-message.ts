import type { RatePool, Rates } from '../../platform/config/tiers.ts';
import { ownSlots, type TakeSlot } from './in-flight.ts';
import { ownRate, type RateCounts, type RateState } from './rate.ts';

/** The limits of a process without Redis, or while Redis is not reachable. */
export interface LocalLimits {
  rate: RateCounts;
  slots: TakeSlot;
}

/** Creates the counts for processes that send requests by message. */
export function serveLimits(rates: Rates): LimitsServer {
  const rate = ownRate(rates);
  const slots = ownSlots();
  const held = new Map<number, Map<number, () => void>>();

  return {
    async answer(asker, question, reply) {
      const { ask } = question;
      const mine = held.get(asker) ?? new Map<number, () => void>();
      held.set(asker, mine);
      if (question.limits === 'leave') {
        mine.get(ask)?.();
        mine.delete(ask);
      } else if (question.limits === 'slot') {
        const leave = await slots(question.keyId);
        // A process that ended in the meantime gets no slot.
        if (leave && held.get(asker) !== mine) leave();
        else if (leave) mine.set(ask, leave);
        reply({ limits: 'answer', ask, taken: leave !== null });
      } else if (question.limits === 'refund') {
        const { pool, who, requests } = question;
        reply({ limits: 'answer', ask, state: await rate.giveBack(pool, who, requests) });
      } else {
        const { pool, who, cost } = question;
        reply({ limits: 'answer', ask, state: await rate.take(pool, who, cost) });
      }
    },
    forget(asker) {
      for (const leave of held.get(asker)?.values() ?? []) leave();
      held.delete(asker);
    },
  };
}

/** The client side: limits requested from the counting process. */
export interface LimitsByMessage extends LocalLimits {
  /** Handles an answer; call it for every one that arrives. */
  hear(answer: LimitsAnswer): void;
  /** Call it when the counting process has ended: this process counts on its own from now on. */
  lost(): void;
}

/** Requests limits by `send`. */
export function limitsByMessage(rates: Rates, send: (question: LimitsQuestion) => void): LimitsByMessage {
  const own: LocalLimits = { rate: ownRate(rates), slots: ownSlots() };
  const waiting = new Map<number, (answer: LimitsAnswer | null) => void>();
  let asked = 0;
  let gone = false;

  function question(make: (ask: number) => LimitsQuestion): Promise<LimitsAnswer | null> {
    if (gone) return Promise.resolve(null);
    const ask = ++asked;
    return new Promise((resolve) => {
      waiting.set(ask, resolve);
      send(make(ask));
    });
  }

  return {
    rate: {
      async take(pool, who, cost) {
        const answer = await question((ask) => ({ limits: 'rate', ask, pool, who, cost }));
        return answer?.state ?? own.rate.take(pool, who, cost);
      },
      async giveBack(pool, who, requests) {
        const answer = await question((ask) => ({ limits: 'refund', ask, pool, who, requests }));
        return answer?.state ?? own.rate.giveBack(pool, who, requests);
      },
    },
    async slots(keyId) {
      const answer = await question((ask) => ({ limits: 'slot', ask, keyId }));
      if (answer === null) return own.slots(keyId);
      if (!answer.taken) return null;
      let released = false;
      return () => {
        if (!released && !gone) send({ limits: 'leave', ask: answer.ask });
        released = true;
      };
    },
    hear(answer) {
      waiting.get(answer.ask)?.(answer);
      waiting.delete(answer.ask);
    },
    lost() {
      gone = true;
      for (const resolve of waiting.values()) resolve(null);
      waiting.clear();
    },
  };
}

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
