import { type ExecutionArgs, getOperationAST } from 'graphql';
import type { EndpointServices } from '../access/endpoint-services.ts';
import type { Anonymous } from '../access/limits/rate.ts';
import type { Lifetime } from '../platform/runtime/lifetime.ts';
import { currentRequest } from '../platform/runtime/request-scope.ts';
import { requirePredicted } from './limits/document-limits.ts';
import { sentPoints } from './limits/sent-points.ts';
import type { OperationWeights, Prediction } from './limits/weighed-operation.ts';
import { requestsOf } from './limits/weight.ts';
import { stateOf } from './request-state.ts';

/** Number of requests that an operation costs. Throws 400 if its answer would exceed the limits. */
function costOfAnswer(prediction: Prediction): number {
  requirePredicted(prediction);
  return requestsOf(prediction.points);
}

/** The name that the client gave its operation, if any. */
function operationName({ document, operationName }: ExecutionArgs): { operationName?: string } {
  const name = getOperationAST(document, operationName)?.name?.value;
  return name === undefined ? {} : { operationName: name };
}

/**
 * Admits an operation: identifies its caller, charges its predicted cost, and gives it the graph's context. Its slots
 * are freed when `life` ends. Throws 400, 401 or 429.
 */
export async function admitOperation(
  services: EndpointServices,
  weigh: OperationWeights,
  args: ExecutionArgs,
  life: Lifetime,
): Promise<void> {
  const { admission, note } = services;
  const state = stateOf(args);
  const { kind, groups, predict } = weigh(args.document, args.operationName);
  let prediction!: Prediction;
  if (kind === 'mutation') currentRequest()?.mustFinish();
  const admitted = await admission.admit(state.req, state.res, {
    least: requestsOf(sentPoints(state)),
    cost(caller) {
      note(state.req, { operation: kind, ...operationName(args), groups });
      Object.assign(state, services.context(caller, life.onEnd));
      prediction = predict(state.variables ?? {}, caller, sentPoints(state));
      return costOfAnswer(prediction);
    },
  });
  state.admitted = { ...admitted, groups };
  state.charged = { ...admitted, prediction };
}

/** Admits introspection without a credential: it is charged to the client's address. Throws 400 or 429. */
export async function admitAnonymous(
  services: EndpointServices,
  weigh: OperationWeights,
  args: ExecutionArgs,
): Promise<void> {
  const { admission, note, clientAddress } = services;
  const state = stateOf(args);
  const { kind, predict } = weigh(args.document, args.operationName);
  note(state.req, { operation: kind, ...operationName(args) });
  const who: Anonymous = { address: clientAddress(state.req) };
  const prediction = predict(state.variables ?? {}, { kind: 'key' }, sentPoints(state));
  const cost = costOfAnswer(prediction);
  const rate = await admission.charge(who, state.req, state.res, cost, { least: requestsOf(sentPoints(state)) });
  state.charged = { counted: who, cost, rate, prediction };
}
