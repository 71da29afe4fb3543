import type { Request, Response } from 'express';
import type { Charged } from '../../access/admission.ts';
import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { WrittenData } from '../../graphql/execution/leaf-tally.ts';
import { requirePredicted } from '../../graphql/limits/document-limits.ts';
import type { Prediction, WeighedOperation } from '../../graphql/limits/weighed-operation.ts';
import { requestsOf } from '../../graphql/limits/weight.ts';
import { currentRequest } from '../../platform/runtime/request-scope.ts';
import { failureWithin } from '../../platform/wire/failure.ts';
import { WrittenJson } from '../../platform/wire/json-chunks.ts';
import type { Metering } from '../contract/operation.ts';

/** A request that is charged by the weight of its operation. */
interface Metered {
  caller: Caller;
  request: Request;
  response: Response;
}

/** Answers that may have more values than this are heavy. */
const heavyLeaves = 20_000;

/** Throws 400 for an answer that could exceed a limit. */
export function requireSmall(prediction: Pick<Prediction, 'leaves' | 'bytes' | 'ids'>): void {
  try {
    requirePredicted(prediction);
  } catch (error) {
    throw failureWithin(error) ?? error;
  }
}

/**
 * Charges an operator's operation as the graph charges a document, beyond the request that was charged before: first
 * its predicted cost, then what its answer holds. `cost` is the number of requests that it took.
 */
export class OperationMetering implements Metering {
  readonly #services: EndpointServices;
  readonly #weighed: WeighedOperation;
  readonly #metered: Metered;
  #prediction: Prediction | null = null;
  #charged: Charged | null = null;
  cost = 1;

  constructor(services: EndpointServices, weighed: WeighedOperation, metered: Metered) {
    this.#services = services;
    this.#weighed = weighed;
    this.#metered = metered;
  }

  get limits(): Metering['limits'] {
    return this.#services.answerLimits;
  }

  async begin(variables: Record<string, unknown>): ReturnType<Metering['begin']> {
    const prediction = this.#weighed.predict(variables, this.#metered.caller);
    requireSmall(prediction);
    if (prediction.leaves > heavyLeaves) currentRequest()?.isHeavy();
    this.#prediction = prediction;
    await this.take(requestsOf(prediction.points));
    return prediction.inFlight();
  }

  /** Charges `cost` requests, of which one was charged before. */
  async take(cost: number): Promise<void> {
    const { caller, request, response } = this.#metered;
    this.cost = cost;
    if (cost === 1) return;
    const rate = await this.#services.admission.charge(caller, request, response, cost, { already: 1 });
    this.#charged = { counted: caller, cost, rate };
  }

  async end({ root, tallies }: Parameters<Metering['end']>[0]): Promise<void> {
    if (!this.#prediction) return;
    const actual = requestsOf(this.#prediction.actual(new WrittenData(new WrittenJson([]), root, tallies)).points);
    const { request, response } = this.#metered;
    if (this.#charged) await this.#services.admission.settle(this.#charged, request, response, actual);
    this.cost = actual;
  }
}
