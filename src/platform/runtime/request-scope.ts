import { AsyncLocalStorage } from 'node:async_hooks';
import { Dependencies } from './dependencies.ts';
import { lifetime } from './lifetime.ts';

/** A request while it is answered. Everything done for it, at any depth, finds it by `currentRequest`. */
export class RequestScope {
  /** Data that its answer depends on. */
  readonly dependencies = new Dependencies();
  /** When the request arrived, epoch ms. */
  readonly arrivedAtMs: number;
  #caller = '';
  readonly #endLight: () => void;
  readonly #gone: () => Error;
  readonly #life = lifetime();
  #finishes = false;
  /** Pieces of its work that wait for their turn; resolved when there is none. */
  #turns: { count: number; none: PromiseWithResolvers<void> } | null = null;

  /**
   * @param endLight Called when the request is over, or yields as heavy work.
   * @param gone Creates the error with which its work ends when its client has disconnected.
   */
  constructor(arrivedAtMs: number, endLight: () => void, gone: () => Error) {
    this.arrivedAtMs = arrivedAtMs;
    this.#endLight = endLight;
    this.#life.onEnd(endLight);
    this.#gone = gone;
  }

  /** The caller; '' while unknown. Heavy work of different callers alternates. */
  get caller(): string {
    return this.#caller;
  }

  isOf(caller: string): void {
    this.#caller = caller;
  }

  /** Marks it as heavy work: light requests run first. */
  isHeavy(): void {
    this.#endLight();
  }

  /** A piece of its work waits for its turn, until the returned function is called. */
  waitsForTurn(): () => void {
    const turns = this.#turns ?? { count: 0, none: Promise.withResolvers<void>() };
    this.#turns = turns;
    turns.count++;
    return () => {
      turns.count--;
      if (turns.count > 0) return;
      this.#turns = null;
      turns.none.resolve();
    };
  }

  /** Resolves when no piece of its work waits for its turn; null = none does. */
  get turns(): Promise<void> | null {
    return this.#turns?.none.promise ?? null;
  }

  /**
   * True if the work is no longer needed: the client has disconnected, or already has its answer. Always false for work
   * that must finish.
   */
  get isOver(): boolean {
    return this.#life.isOver && !this.#finishes;
  }

  /** Throws if the work is no longer needed. */
  requireClient(): void {
    if (this.isOver) throw this.#gone();
  }

  /** Marks a request that changes data: it runs to its end, even if its client disconnects. */
  mustFinish(): void {
    this.#finishes = true;
  }

  /** Calls `undo` when the request is over, immediately if it is. The returned function removes `undo`. */
  onEnd(undo: () => void): () => void {
    return this.#life.onEnd(undo);
  }

  /** Ends it when the answer has been sent, or the client has disconnected before. Idempotent. */
  end(): void {
    this.#life.end();
  }
}

const scopes = new AsyncLocalStorage<RequestScope | undefined>();

/** The request that the running code works for; undefined = none. */
export function currentRequest(): RequestScope | undefined {
  return scopes.getStore();
}

/** Runs `work` for a request. */
export function withinRequest<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work);
}

/** Runs work that other requests share: it continues when the current request's client has disconnected. */
export function forEverybody<T>(work: () => T): T {
  return scopes.run(undefined, work);
}

/** Binds a function to the current request, regardless of its caller. */
export function forThisRequest<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  return AsyncLocalStorage.bind(work);
}
