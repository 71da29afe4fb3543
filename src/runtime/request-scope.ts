import { AsyncLocalStorage } from 'node:async_hooks';
import { Dependencies } from './dependencies.ts';
import { lifetime } from './lifetime.ts';

/** A request while it is answered. Everything that is done for it, however deep, finds it by `currentRequest`. */
export class RequestScope {
  /** Data that its answer is made from. */
  readonly dependencies = new Dependencies();
  /** When the request arrived, epoch ms. */
  readonly arrivedAtMs: number;
  #caller = '';
  readonly #endLight: () => void;
  readonly #gone: () => Error;
  readonly #life = lifetime();
  #finishes = false;

  /**
   * @param endLight Called when the request is over, or turns out to be heavy work.
   * @param gone The error with which its work ends when its client has hung up.
   */
  constructor(arrivedAtMs: number, endLight: () => void, gone: () => Error) {
    this.arrivedAtMs = arrivedAtMs;
    this.#endLight = endLight;
    this.#life.onEnd(endLight);
    this.#gone = gone;
  }

  /** The caller; '' while unknown. The heavy work of different callers alternates. */
  get caller(): string {
    return this.#caller;
  }

  isOf(caller: string): void {
    this.#caller = caller;
  }

  /** It is heavy work: light requests go before it. */
  isHeavy(): void {
    this.#endLight();
  }

  /**
   * True if the work is no longer needed: the client has disconnected, or already has its answer. Never of what must
   * finish.
   */
  get isOver(): boolean {
    return this.#life.isOver && !this.#finishes;
  }

  /** Throws when the work is no longer needed. */
  requireClient(): void {
    if (this.isOver) throw this.#gone();
  }

  /** Marks a request that changes something: it is done to its end, whether or not its client waits for it. */
  mustFinish(): void {
    this.#finishes = true;
  }

  /** Calls `undo` when the request is over; at once when it is over already. What is returned takes it back. */
  onEnd(undo: () => void): () => void {
    return this.#life.onEnd(undo);
  }

  /** The answer has been sent, or the client has hung up before. A second time does nothing. */
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

/** Runs work that others than the request at hand will use: it goes on when that request's client has hung up. */
export function forEverybody<T>(work: () => T): T {
  return scopes.run(undefined, work);
}

/** A function that always runs for the current request, regardless of its caller. */
export function forThisRequest<A extends unknown[], R>(work: (...args: A) => R): (...args: A) => R {
  return AsyncLocalStorage.bind(work);
}
