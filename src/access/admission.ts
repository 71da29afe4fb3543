import type { IncomingMessage, ServerResponse } from 'node:http';
import { overMinute, rateExceeded } from '../platform/config/tiers.ts';
import { currentRequest } from '../platform/runtime/request-scope.ts';
import { invalidRequest, notAuthenticated, rateLimited } from '../platform/wire/failure.ts';
import type { Authentication, Caller } from './caller.ts';
import { credentialOf, setCredential } from './identity/credential.ts';
import { type Anonymous, type Counted, hasRateHeaders, type RateState, writeRateHeaders } from './limits/rate.ts';
import type { Access } from './open-access.ts';

/** Properties of a caller that admission adds to the log and metrics. */
type Noted = Partial<Pick<Caller, 'accountId' | 'keyId' | 'tier'>> & { cost?: number };

/** Dependencies of admission. */
export interface AdmissionParts {
  access: Pick<Access, 'authenticate' | 'rate' | 'usage' | 'streams' | 'tickets'>;
  note: (request: IncomingMessage, found: Noted) => void;
}

/** Requirements of a request on admission. */
export interface Asked {
  /**
   * True if an expired credential is `token_expired` here, as on the routes that list it; else it is `unauthenticated`.
   */
  listsTokenExpired?: boolean;
  /** Its cost in requests. If this throws, the request costs `least` and fails with the error. */
  cost: (caller: Caller) => number;
  /** Cost of a rejected request; 1 unless reading it took more. */
  least?: number;
}

/** Charge of a request. */
export interface Charged {
  /** The caller or address it was taken from. */
  counted: Counted;
  /** Number of requests taken. */
  cost: number;
  /** State of the minute afterwards. */
  rate: RateState;
}

/** An admitted request. */
export interface Admitted extends Charged {
  caller: Caller;
}

/** Options of a charge. */
interface Share {
  already?: number;
  least?: number;
  atMostMinute?: boolean;
}

/**
 * Admits requests. Every endpoint uses it, in this order: credential → caller (401) → rate (429) → the work → usage.
 * In-flight and stream slots of a request end with its `requestLife`.
 */
export class Admission {
  readonly #access: AdmissionParts['access'];
  readonly #note: AdmissionParts['note'];

  constructor({ access, note }: AdmissionParts) {
    this.#access = access;
    this.#note = note;
  }

  /** Reads the credential of a request. Throws 502 if the store or the key set cannot be reached. */
  async authenticate(request: IncomingMessage): Promise<Authentication> {
    const found = await this.#access.authenticate(credentialOf(request.headersDistinct));
    if (found.state === 'ok') {
      const { accountId, keyId, tier } = found.caller;
      this.#note(request, { accountId, keyId, tier });
      currentRequest()?.isOf(keyId ?? accountId);
    }
    return found;
  }

  /** The caller of a request. Throws 401. */
  async identify(request: IncomingMessage, listsTokenExpired = true): Promise<Caller> {
    const authentication = await this.authenticate(request);
    if (authentication.state === 'ok') return authentication.caller;
    throw notAuthenticated(authentication.state, listsTokenExpired);
  }

  /**
   * Takes `cost` requests from the minute of a caller or an address and writes the rate headers. Throws 429 if fewer
   * are left. A cost that exceeds a whole minute takes `least` and throws 400, because a retry would fail too.
   * `already` of the cost were taken before. With `atMostMinute` it takes no more than the whole minute.
   */
  async charge(
    who: Caller | Anonymous,
    request: IncomingMessage,
    response: ServerResponse,
    asked = 1,
    { already = 0, least = 1, atMostMinute = false }: Share = {},
  ): Promise<RateState> {
    const limit = this.#access.rate.limit(who);
    const cost = atMostMinute ? Math.min(asked, limit) : asked;
    const isAffordable = cost <= limit;
    // A request beyond the minute costs no more than was charged before.
    if (!isAffordable && already >= least) throw invalidRequest(overMinute(cost, limit));
    const taken = isAffordable ? cost - already : least;
    const rate = await this.#access.rate.consume(who, taken);
    writeRateHeaders(rate, response, rate.allowed ? taken : 0);
    if (rate.allowed) {
      this.#note(request, { cost: already + taken });
      if (isAffordable) return rate;
      throw invalidRequest(overMinute(cost, limit));
    }
    const message = rateExceeded(rate.limit, { cost, anonymous: 'address' in who });
    throw rateLimited(message, Math.max(1, rate.resetSeconds));
  }

  /**
   * Admits an estimate: takes nothing from the minute of a caller or an address, and `asked` of the as many estimates
   * that it has per minute. Returns the state of its requests. Throws 429.
   */
  async admitEstimate(who: Caller | Anonymous, response: ServerResponse, asked = 1): Promise<RateState> {
    const { rate } = this.#access;
    const requests = await rate.refund(who, 0);
    writeRateHeaders(requests, response, 0);
    const { allowed, limit, resetSeconds } = await rate.consume(who, Math.min(asked, rate.limit(who)), 'estimates');
    if (!allowed) throw rateLimited(`More than ${limit} estimates per minute.`, Math.max(1, resetSeconds));
    return requests;
  }

  /** Identifies the caller and charges the request. Throws 401 or 429. */
  async admit(request: IncomingMessage, response: ServerResponse, asked: Asked): Promise<Admitted> {
    const caller = await this.identify(request, asked.listsTokenExpired);
    const { least = 1 } = asked;
    let cost = least;
    try {
      cost = asked.cost(caller);
    } catch (error) {
      await this.charge(caller, request, response, least);
      throw error;
    }
    return { caller, counted: caller, cost, rate: await this.charge(caller, request, response, cost, { least }) };
  }

  /** Identifies the caller; null without a valid credential, for an endpoint that requires none. */
  async recognize(request: IncomingMessage): Promise<Caller | null> {
    const authentication = await this.authenticate(request).catch(() => null);
    return authentication?.state === 'ok' ? authentication.caller : null;
  }

  /** Corrects the charge to the actual cost of a request, and the rate headers if they are not sent yet. */
  async settle(charged: Charged, request: IncomingMessage, response: ServerResponse, cost: number): Promise<Charged> {
    if (cost === charged.cost) return charged;
    const rate = await this.#access.rate.refund(charged.counted, charged.cost - cost);
    this.#note(request, { cost });
    if (!response.headersSent) writeRateHeaders(rate, response, cost - charged.cost);
    return { counted: charged.counted, cost, rate };
  }

  /** Charges a request that failed before it was charged, if its credential is valid. Throws 429. */
  async chargeRejected(request: IncomingMessage, response: ServerResponse, cost = 1): Promise<void> {
    if (response.headersSent || hasRateHeaders(response)) return;
    const authentication = await this.authenticate(request);
    if (authentication.state === 'ok') await this.charge(authentication.caller, request, response, cost);
  }

  /** Counts a request in the usage of its scope groups. */
  count(caller: Caller, scopeGroups: readonly string[]): void {
    for (const group of scopeGroups) this.#access.usage.count(caller.accountId, group);
  }

  /**
   * Redeems a ticket, and sets the credential of its owner on the request. Throws 401 for a ticket that is unknown,
   * used or expired.
   */
  async takeTicket(ticket: string, request: IncomingMessage): Promise<Caller> {
    const credential = await this.#access.tickets.redeem(ticket);
    if (credential === null) throw notAuthenticated('invalid');
    setCredential(request, { authorization: `Bearer ${credential}` });
    return this.identify(request);
  }

  /** Takes one of the caller's stream slots. The returned function frees it. Throws 429 if none is left. */
  takeStreamSlot(caller: Caller): () => void {
    return this.#access.streams.take(caller);
  }
}
