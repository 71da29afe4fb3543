// Questions about chains, and the model's answers.
import type { Answer, Json } from '../support/app.ts';
import { type Asked, difference, type Question } from './ask.ts';
import { closeOf, dateOf, newYork, openOf, tradingDay } from './calendar.ts';
import type { Capture, Solution } from './chain-book.ts';
import { type ExposureRow, type Exposures, exposuresOf, sensitivitiesOf, topOf } from './chain-figures.ts';
import { chainUnderlyings } from './chains.ts';

/** An instant to ask about and one of knowledge; null = now. */
interface When {
  underlying: string;
  at: number | null;
  known: number | null;
  path: string;
}

function when({ world, chains, nowMs, random }: Asked): When {
  const underlying = random.pick(chainUnderlyings(world));
  const known = chains.instants.length > 0 && random.once(6) ? random.pick(chains.instants) : null;
  const stored = chains.of(underlying, known).filter(({ capturedAt }) => capturedAt <= nowMs);
  const moment = () => random.pick(stored).capturedAt + random.pick([0, 0, 0, -1, 1, 60_000]);
  const at = stored.length > 0 && random.once(2) ? Math.min(moment(), nowMs) : null;
  const more = [...(at === null ? [] : [`at=${at}`]), ...(known === null ? [] : [`known=${known}`])];
  return { underlying, at, known, path: more.join('&') };
}

/** The captures that an answer may be of, ascending: whole ones, and a part at its own time. */
function visible({ chains, nowMs }: Asked, { underlying, at, known }: Omit<When, 'path'>): Capture[] {
  const until = at ?? nowMs;
  const all = chains.of(underlying, known).filter(({ capturedAt }) => capturedAt <= until);
  return all.filter(({ subset, capturedAt }) => !subset || capturedAt === at);
}

/** Null if an answer is one of those that the model allows. */
const anyOf = (answers: readonly Json[], select: (body: Json) => Json) => (answer: Answer) => {
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
    ...{ spot: capture!.spot, captured_at: capture!.capturedAt, partial: capture!.partial || capture!.subset },
    rows: rows.flatMap((row) => {
      if (expiry !== null && row.expiry !== expiry) return [];
      const { root: underlying, right, strike, openInterest, sharesPerContract, bid, ask, last, fmv, volume } = row;
      const greek = (name: 'delta' | 'gamma' | 'theta' | 'vega') =>
        known(row[name] ?? row.filled?.[name] ?? row.solved?.[name]);
      return {
        contract: { underlying, expiry: row.expiry, right, strike },
        ...{ oi: known(openInterest), volume: known(volume), bid: known(bid), ask: known(ask), last: known(last) },
        ...{ fmv: known(fmv), iv: known(row.iv ?? row.solved?.iv), shares_per_contract: known(sharesPerContract) },
        ...{ delta: greek('delta'), gamma: greek('gamma'), theta: greek('theta'), vega: greek('vega') },
      };
    }),
  }));
  const none = { spot: null, captured_at: null, partial: false, rows: [] };
  return {
    path: `/v2/chain/${at.underlying}?${at.path}${expiry === null ? '' : `&expiry=${expiry}`}`,
    caller: random.pick(['key', 'session']),
    judge: anyOf(capture ? answers : [none], ({ data }) => data),
  };
}

async function askExpirations(asked: Asked): Promise<Question> {
  const { random, nowMs } = asked;
  const at = when(asked);
  const capture = visible(asked, at).at(-1);
  const all = [...new Set(capture?.rows.map(({ expiry }) => expiry))].toSorted();
  const open = at.at === null ? all.filter((expiry) => closeOf(expiry) > nowMs) : all;
  return {
    path: `/v2/chain/${at.underlying}/expirations?${at.path}`,
    caller: random.pick(['key', 'free']),
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

/** True where an answer omits what has settled by the clock, as a live one does; both where it may be either. */
function clocks(nowMs: number, { at }: Pick<When, 'at'>, { session }: Capture): boolean[] {
  const over = isOver(nowMs, session);
  if (at !== null || over === true) return [false];
  return over === false ? [true] : [false, true];
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
  const { random, nowMs } = asked;
  const at = when(asked);
  const [isByExpiry, top] = [random.once(3), random.once(4) ? 1 + random.below(6) : null];
  const last = (await published(asked, visible(asked, at))).at(-1);
  const none = { captured_at: null, spot: null, net_gex: null, flip_point: null, strikes: [] };
  const filters = last ? clocks(nowMs, at, last.capture) : [];
  const answers = (last?.solutions ?? []).flatMap((solution) =>
    filters.flatMap((isLive) => {
      const found = exposuresOf(solution, (expiry) => !isLive || closeOf(expiry) > nowMs);
      return found ? [ofGrid(served(solution, found, isByExpiry, top ?? 1e6))] : [];
    }),
  );
  const more = `${isByExpiry ? '&by_expiry=true' : ''}${top === null ? '' : `&top=${top}`}`;
  return {
    path: `/v2/gex/${at.underlying}/grid?${at.path}${more}`,
    caller: random.pick(['key', 'session']),
    judge: anyOf(last ? answers : [none], ({ data }) => data),
  };
}

async function askHistory(asked: Asked): Promise<Question> {
  const { world, random, nowMs } = asked;
  const { underlying, known: knownAt } = when(asked);
  const date = random.pick(world.sessions.filter((session) => session <= dateOf(nowMs)));
  const own = visible(asked, { underlying, known: knownAt, at: null }).filter(({ session }) => session === date);
  const captures = await published(asked, own);
  const isByExpiry = random.once(4);
  const answers = captures.map(({ solutions }) =>
    solutions.map((solution) => served(solution, exposuresOf(solution)!, isByExpiry, 20)),
  );
  const more = `${isByExpiry ? '&by_expiry=true' : ''}${knownAt === null ? '' : `&known=${knownAt}`}`;
  return {
    path: `/v2/gex/${underlying}/history?date=${date}&top=20${more}`,
    caller: random.pick(['key', 'session']),
    judge: (answer) => {
      const times = captures.map(({ capture }) => ({ captured_at: capture.capturedAt }));
      const others = anyOf([times], ({ data }) => data.captures)(answer);
      const wrong = (expected: Json[], i: number) => anyOf(expected, ({ data }) => data.captures[i])(answer) ?? [];
      return others ?? answers.flatMap(wrong)[0] ?? null;
    },
  };
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
    const level = (kind: string, price: number | null) => ({ kind, price, captured_at: last!.capture.capturedAt });
    return [
      level(
        'call_wall',
        strikeOfMost(strikes, ({ gex }) => gex),
      ),
      level(
        'put_wall',
        strikeOfMost(strikes, ({ gex }) => -gex),
      ),
      level('flip', flip),
    ];
  });
  const kindsOf = new Set(['call_wall', 'put_wall', 'flip']);
  return {
    path: `/v2/levels/${underlying}`,
    caller: asked.random.pick(['key', 'session']),
    judge: anyOf(last ? answers : [[]], ({ data }) => data.levels.filter(({ kind }: Json) => kindsOf.has(kind))),
  };
}

async function askExposures(asked: Asked): Promise<Question> {
  const { random, chains, nowMs } = asked;
  const at = when(asked);
  const capture = visible(asked, at).at(-1);
  const answers = (capture ? await chains.solved(capture) : []).flatMap((solution) =>
    clocks(nowMs, at, capture!).map((isLiveAnswer) => {
      const isWanted = (expiry: string) => !isLiveAnswer || closeOf(expiry) > nowMs;
      return { captured_at: capture!.capturedAt, spot: capture!.spot, total: sensitivitiesOf(solution, isWanted) };
    }),
  );
  const none = { captured_at: null, spot: null, total: null };
  return {
    path: `/v2/gex/${at.underlying}/exposures?${at.path}`,
    caller: random.pick(['key', 'session']),
    judge: anyOf(capture ? answers : [none], ({ data }) => data),
  };
}

const kinds = [askChain, askExpirations, askGrid, askGrid, askHistory, askLevels, askExposures];

/** A question about chains. */
export function askChains(asked: Asked): Promise<Question> {
  return asked.random.pick(kinds)(asked);
}
