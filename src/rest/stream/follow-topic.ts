import type { Caller } from '../../access/caller.ts';
import type { EndpointServices } from '../../access/endpoint-services.ts';
import { rightsOf } from '../../access/entitlement/entitlement.ts';
import { type LiveAnswers, openAnswers } from '../../graphql/execution/live-answers.ts';
import { coerceVariables } from '../../graphql/execution/variables.ts';
import { type Lifetime, lifetime } from '../../platform/runtime/lifetime.ts';
import { failureOf, type ReadOperation } from '../contract/operation.ts';

/** A subscriber of topics. */
export interface Following {
  services: EndpointServices;
  /** The caller as last identified. */
  caller: Caller;
  life: Lifetime;
}

/** A stored subscription to follow. */
export interface FollowedTopic<T> {
  /** Subscriptions of the same name, with the same variables and rights, share their answers. */
  name: string;
  operation: ReadOperation;
  variables: Record<string, unknown>;
  /** Variables that determine only with which event it begins. */
  since: Record<string, unknown>;
  /** The position after which it resumes; null = it starts with the next event. */
  after: string | null;
  /** Predicted points of an operator's operation; absent = it is of the contract. */
  points?: number | undefined;
  /** Writes the sent part of an event's data. */
  write: (data: unknown) => T;
}

/** Opens a subscription, which ends with the life of its subscriber. Throws the reason of a rejection. */
export async function followTopic<T>(following: Following, topic: FollowedTopic<T>): Promise<LiveAnswers<T>> {
  const { services, life } = following;
  const { name, operation, variables, since, after, points, write } = topic;
  const asked = name + JSON.stringify(variables);
  const { coerced, errors } = await coerceVariables(services.schema, operation.definition, { ...variables, ...since });
  if (errors) throw failureOf(errors[0]!);
  const answers = await openAnswers({
    schema: services.schema,
    document: operation.document,
    operationName: null,
    variables: coerced,
    context: {
      ...services.context(following.caller, life.onEnd),
      after,
      ...(points !== undefined && { pricedPoints: points }),
    },
    contextOf() {
      const { onEnd, end } = lifetime();
      return { context: services.context(following.caller, onEnd), end };
    },
    sharedKey: () => rightsOf(following.caller) + asked,
    write(result) {
      if (result.errors?.length) throw failureOf(result.errors[0]!);
      return write(result.data!.data);
    },
  });
  if ('errors' in answers) throw failureOf(answers.errors[0]!);
  life.onEnd(() => void answers.source.return());
  return answers;
}
