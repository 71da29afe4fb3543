// Writes of clients with their acknowledgements, and a check of their presence at the end.
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type Asked, ask, type Tally } from './ask.ts';

/** Who writes, and where. */
export interface Writer {
  url: string;
  credential: string;
  tally: Tally;
  /** Distinguishes the writers' records. */
  name: string;
}

/** Result of one writer's writes. */
export interface Verdict {
  acknowledged: number;
  /** Number sent without a conclusive answer. */
  unknown: number;
  lost: string[];
  doubled: string[];
}

/** Writes one record after another, and looks for them at the end. */
export interface WriteLoad {
  write(): Promise<void>;
  check(): Promise<Verdict>;
}

async function send(writer: Writer, asked: Asked): Promise<Answer> {
  const answer = await ask(writer.url, writer.credential, asked);
  writer.tally.record(asked.kind, answer);
  return answer;
}

const isAcknowledged = ({ status }: Answer) => status >= 200 && status < 300;
const isRefused = ({ status }: Answer) => status >= 400 && status < 500;

/** Reads every page of a list; tries again while the gateway cannot answer. */
async function readAll(writer: Writer, path: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  let cursor: string | undefined;
  do {
    const answer = await ask(writer.url, writer.credential, {
      kind: 'check',
      path: cursor ? `${path}?cursor=${encodeURIComponent(cursor)}` : path,
    });
    if (!isAcknowledged(answer))
      throw new Error(`${path} answers ${answer.status} when the records are looked for: ${answer.text.slice(0, 200)}`);
    const { data, meta } = JSON.parse(answer.text);
    rows.push(...data);
    cursor = meta.cursor;
  } while (cursor);
  return rows;
}

/**
 * Values under an id that are replaced again and again: at the end the last acknowledged one is there, or one sent
 * after it.
 */
function replaced(
  list: string,
  asked: (id: string, version: number) => Asked,
  versionOf: (row: Record<string, unknown>) => number,
  ids: number,
  /** Creates the records, for writes that are rejected without one. */
  setup?: (ids: readonly string[]) => Asked,
) {
  return (writer: Writer): WriteLoad => {
    const acknowledged = new Map<string, number>();
    const latest = new Map<string, number>();
    const counts = { acknowledged: 0, unknown: 0 };
    let next = 0;
    return {
      async write() {
        if (next === 0 && setup) {
          const all = Array.from({ length: ids }, (_, i) => `${writer.name}-${i}`);
          while (!isAcknowledged(await send(writer, setup(all)))) await delay(500);
        }
        const version = ++next;
        const id = `${writer.name}-${version % ids}`;
        latest.set(id, version);
        const answer = await send(writer, asked(id, version));
        if (isAcknowledged(answer)) {
          acknowledged.set(id, version);
          counts.acknowledged += 1;
        } else if (!isRefused(answer)) counts.unknown += 1;
      },
      async check() {
        const rows = (await readAll(writer, list)).filter((row) => String(row.id).startsWith(`${writer.name}-`));
        const found = new Map(rows.map((row) => [String(row.id), versionOf(row)]));
        const lost = [...acknowledged].filter(
          ([id, version]) => !((found.get(id) ?? -1) >= version && found.get(id)! <= latest.get(id)!),
        );
        const doubled = rows.length > found.size ? [`${rows.length - found.size} of ${list}`] : [];
        return {
          ...counts,
          lost: lost.map(([id, version]) => `${list} ${id} version ${version}, found ${found.get(id)}`),
          doubled,
        };
      },
    };
  };
}

const tradeLine = (id: string, account: string) =>
  JSON.stringify({ id, account_id: account, symbol: 'SPY', side: 'sell', qty: 0.5, price: 2, ts: 1_795_000_000_000 });

/** Watchlists, each under an id of the client's. */
export const watchlistWrites = replaced(
  '/v2/watchlists',
  (id, version) => ({
    kind: 'put watchlist',
    method: 'PUT',
    path: `/v2/watchlists/${id}`,
    body: JSON.stringify({ name: String(version), symbols: ['SPY', 'QQQ'] }),
  }),
  (row) => Number(row.name),
  50,
);

/** Journal trades, each under an id of the client's. */
export const tradeWrites = replaced(
  '/v2/journal/trades',
  (id, version) => ({
    kind: 'put trade',
    method: 'PUT',
    path: `/v2/journal/trades/${id}`,
    body: JSON.stringify({
      account_id: 'main',
      symbol: 'SPY',
      side: 'buy',
      qty: version,
      price: 1,
      ts: 1_795_000_000_000,
    }),
  }),
  (row) => Number(row.qty),
  50,
  (ids) => ({
    kind: 'import',
    method: 'POST',
    path: `/v2/journal/import?import_id=${ids[0]}`,
    body: ids.map((id) => tradeLine(id, 'main')).join('\n'),
    contentType: 'text/plain',
  }),
);

const linesAnImport = 20;

/** Imports, each sent under its id until it is acknowledged, and once more: the same result, every line once. */
export function importWrites(writer: Writer): WriteLoad {
  const acknowledged = new Set<string>();
  const counts = { acknowledged: 0, unknown: 0 };
  const wrong: string[] = [];
  let next = 0;
  return {
    async write() {
      const id = `${writer.name}-i${++next}`;
      const lines = Array.from({ length: linesAnImport }, (_, i) => tradeLine(`${id}-${i}`, 'imported'));
      const asked: Asked = {
        kind: 'import',
        method: 'POST',
        path: `/v2/journal/import?import_id=${id}`,
        body: lines.join('\n'),
        contentType: 'text/plain',
      };
      let answer = await send(writer, asked);
      for (let tries = 1; !isAcknowledged(answer) && !isRefused(answer) && tries < 20; tries++) {
        counts.unknown += 1;
        await delay(500);
        answer = await send(writer, asked);
      }
      if (!isAcknowledged(answer)) return;
      acknowledged.add(id);
      counts.acknowledged += 1;
      const first = JSON.parse(answer.text).data;
      if (first.created !== linesAnImport || first.skipped !== 0) wrong.push(`${id}: ${JSON.stringify(first)}`);
      const again = await send(writer, asked);
      if (isAcknowledged(again) && JSON.stringify(JSON.parse(again.text).data) !== JSON.stringify(first))
        wrong.push(`${id} sent again: ${again.text}`);
    },
    async check() {
      const ids = (await readAll(writer, '/v2/journal/trades')).map(({ id }) => String(id));
      const found = new Set(ids);
      const lost = [...acknowledged]
        .flatMap((id) => Array.from({ length: linesAnImport }, (_, i) => `${id}-${i}`))
        .filter((id) => !found.has(id));
      return {
        ...counts,
        lost,
        doubled: [...wrong, ...(ids.length > found.size ? [`${ids.length - found.size} ids twice`] : [])],
      };
    },
  };
}

/** New trades whose ids are the server's: each acknowledged one is there once, one without an answer at most once. */
export function newTradeWrites(writer: Writer): WriteLoad {
  const acknowledged = new Set<string>();
  const counts = { acknowledged: 0, unknown: 0 };
  let next = 0;
  return {
    async write() {
      const note = `${writer.name}-n${++next}`;
      const body = JSON.stringify({ account_id: 'main', symbol: 'SPY', side: 'buy', qty: 1, price: 3, note });
      const answer = await send(writer, { kind: 'post trade', method: 'POST', path: '/v2/journal/trades', body });
      if (isAcknowledged(answer)) {
        acknowledged.add(note);
        counts.acknowledged += 1;
      } else if (!isRefused(answer)) counts.unknown += 1;
    },
    async check() {
      const times = new Map<string, number>();
      for (const { note } of await readAll(writer, '/v2/journal/trades'))
        if (String(note).startsWith(`${writer.name}-`)) times.set(String(note), (times.get(String(note)) ?? 0) + 1);
      return {
        ...counts,
        lost: [...acknowledged].filter((note) => !times.has(note)),
        doubled: [...times].filter(([, count]) => count > 1).map(([note]) => note),
      };
    },
  };
}
