import { LRUCache } from 'lru-cache';
import type { Body } from './respond.ts';

/** An answer as it was sent, with the headers that belong to it. */
export interface KeptAnswer {
  body: Body;
  headers: Record<string, string>;
}

/**
 * Answers built from sealed sessions alone, kept as bytes: asking again costs no query and no serialisation. They can only
 * change when market data does, so each is kept under the data's generation.
 */
export interface SealedAnswers {
  find(key: string): KeptAnswer | undefined;
  /** Keeps an answer about to be computed. Asked for before it is, so that one overtaken by a change is kept under what it was. */
  keeper(key: string): (answer: KeptAnswer) => void;
}

/** Keeps at most `maxBytes`; nothing while `generation` is null. */
export function sealedAnswers(maxBytes: number, generation: () => number | null): SealedAnswers {
  const kept = new LRUCache<string, KeptAnswer>({
    maxSize: maxBytes,
    maxEntrySize: maxBytes / 8,
    sizeCalculation: ({ body }, key) => body.bytes.length + key.length + 500,
  });
  const keyNow = (key: string) => {
    const now = generation();
    return now === null ? null : `${now} ${key}`;
  };
  return {
    find: (key) => {
      const at = keyNow(key);
      return at === null ? undefined : kept.get(at);
    },
    keeper: (key) => {
      const at = keyNow(key);
      return (answer) => {
        if (at !== null) kept.set(at, answer);
      };
    },
  };
}
