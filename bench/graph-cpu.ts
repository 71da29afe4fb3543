import { randomBytes } from 'node:crypto';
import { getOperationAST, parse, validate } from 'graphql';
import { openAccess } from '../src/access/open-access.ts';
import { execute } from '../src/graphql/execution/execute.ts';
import { PreparedOperation } from '../src/graphql/execution/prepared-operation.ts';
import { written } from '../src/graphql/execution/sliced-execution.ts';
import { Pieces } from '../src/graphql/execution/sliced-work.ts';
import { coerceVariables } from '../src/graphql/execution/variables.ts';
import { operationWeights, type Prediction } from '../src/graphql/limits/weighed-operation.ts';
import { weights } from '../src/graphql/limits/weight.ts';
import { LiveHub } from '../src/live/hub.ts';
import { readConfig } from '../src/platform/config/config.ts';
import { serviceSettings } from '../src/platform/config/printed-settings.ts';
import { jsonBytes } from '../src/platform/wire/json-chunks.ts';
import { requestContext } from '../src/resolvers/context.ts';
import { schema } from '../src/schema/index.ts';
import { openStore } from '../src/store/rows/connection.ts';
import { watchChanges } from '../src/store/versions/announcements.ts';
import { cpuMs, median } from './statistics.ts';

/** Cost of running a document. */
export interface Run {
  /** CPU of this process, ms: middle of several rounds. */
  cpuMs: number;
  /** Points of its answer, without those of its text. */
  points: number;
  leaves: number;
  bytes: number;
  errors: readonly { message: string }[];
}

/** The graph over a store, run in this process as the server runs it, without HTTP. */
export interface GraphCpu {
  run(query: string, times: number, variables?: Record<string, unknown>): Promise<Run>;
  close(): Promise<void>;
}

const rounds = 5;

/** A page of 1,000 bars of nine values: what ten points are measured by. */
export const pageOfBars = (from: string, to: string) =>
  `{ symbol(symbol: "SPY") { bars(from: "${from}", to: "${to}", limit: 1000) {
    rows { tsMs open high low close volume vwap tradeCount symbol }
    meta { rowCount completeThrough cursor plane caps { applied tier } } } } }`;

/** Opens the graph over the store in `dataDir`, as a pro, attested session sees it at `nowMs`. */
export async function openGraphCpu(dataDir: string, nowMs: number): Promise<GraphCpu> {
  const store = await openStore({ databaseUrl: null, dataDir });
  const config = readConfig({ LOG_LEVEL: 'silent' }, {});
  const now = () => nowMs;
  const access = await openAccess({ store, config, now });
  await access.accounts.set('bench', { siteTier: 'pro', apiTier: 'pro', classification: 'non_professional' });
  const authenticated = await access.authenticate(await access.sessions.create('bench', 86_400_000));
  if (authenticated.state !== 'ok') throw new Error('the session is not valid');
  const { caller } = authenticated;
  const changes = await watchChanges(store);
  const live = new LiveHub({ store, now, changes, onError: (failure) => console.error(failure) });
  const services = { store, access, now, random: randomBytes, live, ...serviceSettings(config) };
  const weigh = operationWeights(schema);

  return {
    async run(query, times, variables = {}) {
      const document = parse(query);
      const [invalid] = validate(schema, document);
      if (invalid) throw invalid;
      const definition = getOperationAST(document)!;
      const { coerced, errors } = await coerceVariables(schema, definition, variables);
      if (errors) throw errors[0];
      const operation = new PreparedOperation(schema, document, definition.name?.value, {
        isWritten: true,
        absent: new Set(),
      });
      const once = async (): Promise<{ result: ReturnType<typeof written>; bytes: number }> => {
        const ends: (() => void)[] = [];
        const context = requestContext(services, caller, (end) => ends.push(end));
        const pieces = new Pieces({
          turn: async () => {},
          limits: { characters: Infinity, ms: Infinity },
          now: () => performance.now(),
        });
        Object.assign(context, { batchSchedule: pieces.batch });
        const values = { rootValue: undefined, contextValue: context, variableValues: coerced };
        const result = await pieces.run(async () => written(await execute(operation, values, pieces), pieces));
        const bytes = (await jsonBytes(result)).length;
        for (const end of ends) end();
        return { result, bytes };
      };
      let last = await once();
      for (let i = 0; i < Math.min(5, times); i++) last = await once();
      const taken: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const before = cpuMs();
        for (let i = 0; i < times; i++) last = await once();
        taken.push((cpuMs() - before) / times);
      }
      const prediction: Prediction = weigh(document, null).predict(coerced, caller);
      const { points, leaves } = prediction.actual(last.result.data);
      return {
        cpuMs: median(taken),
        points: points - (document.tokenCount ?? 0) * weights.token,
        leaves,
        bytes: last.bytes,
        errors: last.result.errors,
      };
    },
    async close() {
      live.close();
      await access.close();
      await changes.stop();
      await store.close();
    },
  };
}
