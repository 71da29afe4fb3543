import { randomBytes } from 'node:crypto';
import { getOperationAST, parse } from 'graphql';
import { exchangeDate, exchangeInstant } from '../src/core/domain/market-time.ts';
import { execute } from '../src/graphql/execution/execute.ts';
import { preparedOperation } from '../src/graphql/execution/prepared-operation.ts';
import { written } from '../src/graphql/execution/sliced-execution.ts';
import { Pieces } from '../src/graphql/execution/sliced-work.ts';
import { coerceVariables } from '../src/graphql/execution/variables.ts';
import { serviceSettings } from '../src/platform/config/printed-settings.ts';
import { type RequestContext, requestContext } from '../src/resolvers/context.ts';
import { schema } from '../src/schema/index.ts';
import { saveLiveQuotes } from '../src/store/market/live-quotes.ts';
import { inTransaction } from '../src/store/rows/transaction.ts';
import { watchChanges } from '../src/store/versions/announcements.ts';
import { days, symbols } from './bars-page.ts';
import { dashboardQuery } from './dashboard.ts';
import type { Ground } from './ground.ts';
import { cpuMs, median } from './statistics.ts';

const rounds = 31;
const answersARound = 20;

/** As a request was read before its answers were of one commit: each statement and held value as it is just then. */
function ofAnyCommit(context: RequestContext): RequestContext {
  return { ...context, store: context.sharedStore, ofOneCommit: (work) => work() };
}

/**
 * CPU time of dashboards whose reads are of one commit, against that of dashboards whose reads are not, in interleaved
 * rounds: warm, and each after a commit.
 */
export async function oneCommit({ store, access, config, live, session, now }: Ground): Promise<void> {
  const authentication = await access.authenticate(session);
  if (authentication.state !== 'ok') throw new Error('the session is not valid');
  const changes = await watchChanges(store);
  const services = { store, access, now, random: randomBytes, live, ...serviceSettings(config) };
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

  /** CPU time of answers, ms each. */
  async function round(isOfOneCommit: boolean, written: () => Promise<void>): Promise<number> {
    let took = 0;
    for (let i = 0; i < answersARound; i++) {
      await written();
      const before = cpuMs();
      await answer(isOfOneCommit);
      took += cpuMs() - before;
    }
    return took / answersARound;
  }

  async function measure(what: string, written: () => Promise<void>): Promise<void> {
    const took: [number, number][] = [];
    for (let i = 0; i < rounds + 2; i++) {
      const isFirst = i % 2 === 0;
      const [one, other] = [await round(isFirst, written), await round(!isFirst, written)];
      // The first rounds fill what is held.
      if (i >= 2) took.push(isFirst ? [one, other] : [other, one]);
    }
    const ratio = median(took.map(([ours, before]) => before / ours));
    const [ours, before] = [median(took.map(([one]) => one)), median(took.map(([, other]) => other))];
    console.log(
      `${what}: ${ratio.toFixed(3)}× answers of any commit (${ours.toFixed(2)} ms, ${before.toFixed(2)} ms of CPU)`,
    );
  }

  await measure('warm dashboards, no two alike', async () => {});
  let price = 100;
  await measure('dashboards, each after a quote of every symbol', async () => {
    price += 0.01;
    const quote = { sessionDate: exchangeDate(now()), spot: price, eventTsMs: now(), volume: 1, officialClose: null };
    await inTransaction(store, (tx) =>
      saveLiveQuotes(
        tx,
        symbols.map((symbol) => ({ symbol, ...quote })),
      ),
    );
  });
  await changes.stop();
}
