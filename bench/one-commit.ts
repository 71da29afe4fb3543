import { randomBytes } from 'node:crypto';
import { getOperationAST, parse } from 'graphql';
import { exchangeInstant } from '../src/domain/market-time.ts';
import { execute } from '../src/graphql/execution/execute.ts';
import { preparedOperation } from '../src/graphql/execution/prepared-operation.ts';
import { written } from '../src/graphql/execution/sliced-execution.ts';
import { Pieces } from '../src/graphql/execution/sliced-work.ts';
import { coerceVariables } from '../src/graphql/execution/variables.ts';
import { type RequestContext, requestContext } from '../src/resolvers/context.ts';
import { schema } from '../src/schema/index.ts';
import { watchChanges } from '../src/store/versions/changes.ts';
import { days } from './bars-page.ts';
import { dashboardQuery } from './dashboard.ts';
import type { Ground } from './ground.ts';

const rounds = 31;
const answersARound = 20;

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

/** As a request was read before its answers were of one commit: each statement and held value as it is just then. */
function ofAnyCommit(context: RequestContext): RequestContext {
  return { ...context, store: context.sharedStore, ofOneCommit: (work) => work() };
}

/**
 * CPU time of answers of one commit over that of answers that are not: of warm dashboards of which no two are alike, in
 * interleaved rounds.
 */
export async function oneCommit({ store, access, config, live, session, now }: Ground): Promise<number> {
  const authentication = await access.authenticate(session);
  if (authentication.state !== 'ok') throw new Error('the session is not valid');
  const changes = await watchChanges(store);
  const { sources, journalMaxRows, provenance } = config;
  const services = { store, access, sources, now, random: randomBytes, live, journalMaxRows, provenance };
  const document = parse(dashboardQuery);
  const operation = preparedOperation(schema, document, null);
  const [first, to] = [exchangeInstant(days.at(-1)!), exchangeInstant(days.at(-1)!, 960)];
  const { caller } = authentication;
  let asked = 0;

  async function answer(isOfOneCommit: boolean): Promise<void> {
    const variables = { from: String(first - asked++), to: String(to) };
    const { coerced } = await coerceVariables(schema, getOperationAST(document)!, variables);
    const own = requestContext(services, caller, () => {});
    const context = isOfOneCommit ? own : ofAnyCommit(own);
    const values = { rootValue: undefined, contextValue: context, variableValues: coerced! };
    await context.ofOneCommit(() => {
      const limits = { characters: Infinity, ms: Infinity };
      const pieces = new Pieces({ turn: async () => {}, limits, now: () => performance.now() });
      Object.assign(context, { batchSchedule: pieces.batch });
      return pieces.run(async () => written(await execute(operation, values, pieces), pieces));
    }, true);
  }

  async function round(isOfOneCommit: boolean): Promise<number> {
    const before = cpuMs();
    for (let i = 0; i < answersARound; i++) await answer(isOfOneCommit);
    return (cpuMs() - before) / answersARound;
  }

  const took: [number, number][] = [];
  for (let i = 0; i < rounds + 2; i++) {
    const isFirst = i % 2 === 0;
    const [one, other] = [await round(isFirst), await round(!isFirst)];
    // The first rounds fill what is held.
    if (i >= 2) took.push(isFirst ? [one, other] : [other, one]);
  }
  await changes.stop();
  const ratio = median(took.map(([ours, before]) => before / ours));
  const [ours, before] = [median(took.map(([one]) => one)), median(took.map(([, other]) => other))];
  console.log(
    `answers of one commit, dashboards no two alike: ${ratio.toFixed(3)}× the speed of others (${ours.toFixed(2)} ms, ${before.toFixed(2)} ms)`,
  );
  return ratio;
}
