// Questions about chains, and the model's answers.
import type { Answer, Json } from '../support/app.ts';
import { type Asked, difference, type Question, type State } from './ask.ts';
import { field, inGraph } from './ask-graph.ts';
import { closeOf, dateOf, newYork, openOf, tradingDay } from './calendar.ts';
import type { Capture, Solution } from './chain-book.ts';
import { type ExposureRow, type Exposures, exposuresOf, sensitivitiesOf, topOf } from './chain-figures.ts';
import { chainUnderlyings } from './chains.ts';

/** An instant to ask about and one of knowledge; null = now. */
interface When {
  underlying: string;
  at: number | null;
  known: number | null;
  /** Where the clock of a live answer stands; null for an answer as stored. */
  clockMs: number | null;
}

function when({ world, chains, nowMs, random }: Asked): When {
  const underlying = random.pick(chainUnderlyings(world));
  const known = chains.instants.length > 0 && random.once(6) ? random.pick(chains.instants) : null;
  const stored = chains.of(underlying, known).filter(({ capturedAt }) => capturedAt <= nowMs);
  const moment = () => random.pick(stored).capturedAt + random.pick([0, 0, 0, -1, 1, 60_000]);
  const at = stored.length > 0 && random.once(2) ? Math.min(moment(), nowMs) : null;
  const clockMs = at === null ? nowMs : random.once(3) ? at : null;
  return { underlying, at, known, clockMs };
}

/** The captures that an answer may be of, ascending: whole ones, and a part at its own time. */
function visible({ chains, nowMs }: Asked, { underlying, at, known }: Pick<When, 'underlying' | 'at' | 'known'>) {
  const until = at ?? nowMs;
  const all = chains.of(underlying, known).filter(({ capturedAt }) => capturedAt <= until);
  return all.filter(({ subset, capturedAt }) => !subset || capturedAt === at);
}

/**
 * The address, and the same in fields of the graph. An answer as it was live then is the graph's alone: the instant is
 * that of all fields, else an argument of the last.
 */
function below({ underlying: symbol, at, known, clockMs }: When, route: string, names: readonly string[], args: Json) {
  const isThen = at !== null && clockMs !== null;
  const word = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const given = Object.entries({ ...args, at, known }).filter(([, value]) => value !== null && value !== false);
  const last = field(names.at(-1)!, { ...args, at: isThen ? null : at });
  const own = [field('symbol', { symbol }), ...names.slice(0, -1), last];
  return {
    path: isThen ? '' : `/v2/${route}?${given.map(([name, value]) => `${word(name)}=${value}`).join('&')}`,
    fields: inGraph(isThen ? at : null, known, own, null).fields,
  };
}

/** Null if an answer is one of those that the model allows. */
export const anyOf = (answers: readonly Json[], select: (body: Json) => Json) => (answer: Answer) => {
  if (answer.status !== 200) return `status ${answer.status}: ${JSON.stringify(answer.body)}`;
  const found = answers.map((expected) => difference(select(answer.body), expected, 'body'));
  return found.includes(null) ? null : found[0]!;
};

const known = (value: number | null | undefined) => value ?? undefined;

async function askChain(asked: Asked): Promise<Question> {
  const { random, chains } = asked;
  const at = when(asked);
  const capture = visible(asked, at).at(-1);
  const expiry = random.once(4) && capture ? random.pick(capture.rows).expiry : null;
  const solved = capture ? await chains.solved(capture) : [];
  const answers = solved.map(({ rows }) => ({
    spot: capture!.spot,
    captured_at: capture!.capturedAt,
    partial: capture!.partial || capture!.subset,
    rows: rows.flatMap((row) => {
      if (expiry !== null && row.expiry !== expiry) return [];
      const { root: underlying, right, strike, openInterest, sharesPerContract, bid, ask, last, fmv, volume } = row;
      const greek = (name: 'delta' | 'gamma' | 'theta' | 'vega') =>
        known(row[name] ?? row.filled?.[name] ?? row.solved?.[name]);
      return {
        contract: { underlying, expiry: row.expiry, right, strike },
        oi: known(openInterest),
        volume: known(volume),
        bid: known(bid),
        ask: known(ask),
        last: known(last),
        fmv: known(fmv),
        iv: known(row.iv ?? row.solved?.iv),
        shares_per_contract: known(sharesPerContract),
        delta: greek('delta'),
        gamma: greek('gamma'),
        theta: greek('theta'),
        vega: greek('vega'),
      };
    }),
  }));
  const none = { spot: null, captured_at: null, partial: false, rows: [] };
  const isFollowed = at.at === null && at.known === null && capture !== undefined && random.once(2);
  const { path, fields } = below(at, `chain/${at.underlying}`, ['chain'], { expiry });
  return {
    ...(isFollowed && { isFollowed }),
    path,
    needs: { symbol: at.underlying },
    caller: random.pick(['key', 'session']),
    graph: {
      fields: isFollowed ? [field('chainCaptured', { symbol: at.underlying, expiry })] : fields,
      example: answers[0] ?? none,
      sparse: 'rows',
    },
    judge: anyOf(capture ? answers : [none], ({ data }) => data),
  };
}

async function askExpirations(asked: Asked): Promise<Question> {
  const at = when(asked);
  const capture = visible(asked, at).at(-1);
  const all = [...new Set(capture?.rows.map(({ expiry }) => expiry))].toSorted();
  const open = all.filter((expiry) => at.clockMs === null || closeOf(expiry) > at.clockMs);
  const { path, fields } = below(at, `chain/${at.underlying}/expirations`, ['expirations'], {});
  return {
    path,
    caller: asked.random.pick(['key', 'free']),
    graph: { fields: [...fields, 'dates'], example: [''] },
    // Without a chain, files of open interest list some.
    judge: capture ? anyOf([open], ({ data }) => data) : () => null,
  };
}

/** The captures with published exposures, and the ways in which they may have been solved. */
async function published({ chains }: Asked, captures: readonly Capture[]) {
  const all = await Promise.all(captures.map((capture) => chains.solved(capture)));
  return captures.flatMap((capture, i) => {
    const solutions = all[i]!.filter((solution) => exposuresOf(solution) !== null);
    return solutions.length === 0 ? [] : [{ capture, solutions }];
  });
}

/** True, false, or null = the texts leave it to what is stored: the session after one has begun. */
function isOver(nowMs: number, session: string): boolean | null {
  const next = tradingDay(session, 1);
  if (nowMs >= openOf(next)) return true;
  return nowMs < newYork(next, -240) ? false : null;
}

/** Tests of expiries that an answer has: a live one omits what has settled; more than one where it may be either. */
function clocks({ clockMs }: When, { session }: Capture): ((expiry: string) => boolean)[] {
  const over = clockMs === null || isOver(clockMs, session);
  const all = () => true;
  const open = (expiry: string) => closeOf(expiry) > clockMs!;
  return over === null ? [all, open] : [over ? all : open];
}

/** A capture as the grid and the history serve it. */
function served({ capture }: Solution, figures: Exposures, isByExpiry: boolean, top: number): Json {
  const { capturedAt: captured_at, spot, priorCloseSpot: prior_close_spot } = capture;
  const rows = topOf(figures, isByExpiry, top);
  const strikes = rows.map(({ expiry, ...row }) => (isByExpiry ? { ...row, expiry } : row));
  return { captured_at, spot, prior_close_spot, net_gex: figures.net, flip_point: figures.flip, strikes };
}

/** Rows of a grid have what is known. */
const ofGrid = ({ strikes, ...body }: Json) => ({
  ...body,
  strikes: strikes.map(({ gex_0dte, call_oi, put_oi, ...row }: ExposureRow) => {
    return { ...row, gex_0dte: known(gex_0dte), call_oi: known(call_oi), put_oi: known(put_oi) };
  }),
});

async function askGrid(asked: Asked): Promise<Question> {
  const { random } = asked;
  const at = when(asked);
  const [isByExpiry, top] = [random.once(3), random.once(4) ? 1 + random.below(6) : null];
  const last = (await published(asked, visible(asked, at))).at(-1);
  const none = { captured_at: null, spot: null, net_gex: null, flip_point: null, strikes: [] };
  const filters = last ? clocks(at, last.capture) : [];
  const answers = (last?.solutions ?? []).flatMap((solution) =>
    filters.flatMap((isWanted) => {
      const found = exposuresOf(solution, isWanted);
      return found ? [ofGrid(served(solution, found, isByExpiry, top ?? 1e6))] : [];
    }),
  );
  const { path, fields } = below(at, `gex/${at.underlying}/grid`, ['gex', 'grid'], { byExpiry: isByExpiry, top });
  return {
    path,
    needs: { symbol: at.underlying },
    caller: random.pick(['key', 'session']),
    graph: { fields, example: answers[0] ?? none, sparse: 'strikes' },
    judge: anyOf(last ? answers : [none], ({ data }) => data),
  };
}

async function askHistory(asked: Asked): Promise<Question> {
  const { world, random, nowMs } = asked;
  const at = { ...when(asked), at: null };
  const date = random.pick(world.sessions.filter((session) => session <= dateOf(nowMs)));
  const own = visible(asked, at).filter(({ session }) => session === date);
  const captures = await published(asked, own);
  const isByExpiry = random.once(4);
  const answers = captures.map(({ solutions }) =>
    solutions.map((solution) => served(solution, exposuresOf(solution)!, isByExpiry, 20)),
  );
  const args = { date, top: 20, byExpiry: isByExpiry };
  const { path, fields } = below(at, `gex/${at.underlying}/history`, ['gex', 'history'], args);
  return {
    path,
    needs: { symbol: at.underlying },
    caller: random.pick(['key', 'session']),
    graph: { fields, example: { captures: answers[0] ?? [] } },
    judge: (answer) => {
      const times = captures.map(({ capture }) => ({ captured_at: capture.capturedAt }));
      const others = anyOf([times], ({ data }) => data.captures)(answer);
      const wrong = (expected: Json[], i: number) => anyOf(expected, ({ data }) => data.captures[i])(answer) ?? [];
      return others ?? answers.flatMap(wrong)[0] ?? null;
    },
  };
}

/** The state of a topic of captures, if there is one. */
export async function gexState(asked: Asked): Promise<State[]> {
  const { underlying: symbol } = when(asked);
  const last = (await published(asked, visible(asked, { underlying: symbol, at: null, known: null }))).at(-1);
  const top = 1 + asked.random.below(20);
  const answers = last?.solutions.map((each) => ({ symbol, ...served(each, exposuresOf(each)!, false, top) }));
  return answers ? [{ topic: `gex:${symbol}:${top}`, event: 'gex', answers }] : [];
}

/** The strike with most of a value above zero, dollars; the lowest of equal ones. */
function strikeOfMost(rows: readonly ExposureRow[], value: (row: ExposureRow) => number): number | null {
  const most = Math.max(0, ...rows.map(value));
  return most > 0 ? rows.find((row) => value(row) === most)!.strike / 1000 : null;
}

async function askLevels(asked: Asked): Promise<Question> {
  const { underlying } = when(asked);
  const last = (await published(asked, visible(asked, { underlying, at: null, known: null }))).at(-1);
  const answers = (last?.solutions ?? []).map((solution) => {
    const { strikes, flip } = exposuresOf(solution)!;
    const most = (sign: 1 | -1) => strikeOfMost(strikes, ({ gex }) => sign * gex);
    const levels = Object.entries({ call_wall: most(1), put_wall: most(-1), flip });
    return levels.map(([kind, price]) => ({ kind, price, captured_at: last!.capture.capturedAt }));
  });
  const isAsked = ({ kind }: Json) => ['call_wall', 'put_wall', 'flip'].includes(kind);
  return {
    path: `/v2/levels/${underlying}`,
    needs: { symbol: underlying },
    caller: asked.random.pick(['key', 'session']),
    graph: {
      fields: [field('symbol', { symbol: underlying }), 'levels'],
      example: { levels: [{ kind: '', price: 0, captured_at: 0 }] },
    },
    judge: anyOf(last ? answers : [[]], ({ data }) => data.levels.filter(isAsked)),
  };
}

async function askExposures(asked: Asked): Promise<Question> {
  const { random, chains } = asked;
  const at = when(asked);
  const capture = visible(asked, at).at(-1);
  const answers = (capture ? await chains.solved(capture) : []).flatMap((solution) =>
    clocks(at, capture!).map((isWanted) => {
      return { captured_at: capture!.capturedAt, spot: capture!.spot, total: sensitivitiesOf(solution, isWanted) };
    }),
  );
  const none = { captured_at: null, spot: null, total: null };
  const { path, fields } = below(at, `gex/${at.underlying}/exposures`, ['gex', 'exposures'], {});
  return {
    path,
    needs: { symbol: at.underlying },
    caller: random.pick(['key', 'session']),
    graph: { fields, example: { captured_at: 0, spot: 0, total: { delta: 0, vega: 0 } } },
    judge: anyOf(capture ? answers : [none], ({ data }) => data),
  };
}

const kinds = [askChain, askExpirations, askGrid, askGrid, askHistory, askLevels, askExposures];

/** A question about chains. */
export function askChains(asked: Asked): Promise<Question> {
  return asked.random.pick(kinds)(asked);
}
