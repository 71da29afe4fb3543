// A life: commands of a seed, one after another, on a gateway and on the model, which are compared after each.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Answer, Json } from '../support/app.ts';
import { type Random, randomOf, shuffled } from '../support/random.ts';
import { ask, difference, type Question } from './ask.ts';
import { askGraph, together } from './ask-graph.ts';
import { Book, type PartReport, seriesOf, standing, type TapeReport } from './book.ts';
import { closeOf, dateOf, newYork, openOf, plusDays, sessionOf } from './calendar.ts';
import { ChainLife, chainCommands, oftenOfChains } from './chain-life.ts';
import { barsOf } from './figures.ts';
import type { Gateway, Ran } from './gateway.ts';
import { follow, ingestDefect, prune, reconcile, restart, sample, sealAndUndo } from './operations.ts';
import {
  type BarDataset,
  type BarFile,
  barFiles,
  barFormats,
  type FileBar,
  type QuoteFile,
  quoteFiles,
  tapeFiles,
  tapeFormats,
  type VendorFile,
} from './vendors.ts';
import { hashOf, isIndex, optionRoots, type Print, type Quote, tickerOf, type World } from './world.ts';

/** One command of a life: its kind, and the seed of everything else about it. */
export type Step = ({ kind: 'clock'; atMs: number } | { kind: keyof typeof commands; seed: number }) & {
  /** Seed of the questions after it. */
  asked: number;
};

/** Thrown when the gateway and the model differ. */
export class Differs extends Error {
  override readonly name = 'Differs';
}

/** The instants that a world's clock stops at, ascending. */
function stops({ sessions }: World): number[] {
  const within = sessions.flatMap((session) => [
    ...[openOf(session) + 5_400_000, closeOf(session) + 1_200_000, newYork(session, 1230), newYork(session, 1860)],
  ]);
  return [...within, newYork(sessions.at(-1)!, 1440 * 4 + 600), newYork(sessions.at(-1)!, 1440 * 400)];
}

/** The commands of a seed's life. */
export function stepsOf(world: World, length: number): Step[] {
  const random = randomOf(hashOf(`life ${world.seed}`));
  const clock = stops(world);
  // Some begin with a sample market, after some sessions.
  const loaded = random.once(4) ? random.below(length / 2) : -1;
  return Array.from({ length }, (_, i): Step | null => {
    const [before, now] = [i, i + 1].map((at) => Math.floor((at * clock.length) / length));
    const asked = random.below(1e9);
    if (now! > before!) return { kind: 'clock', atMs: clock[before!]!, asked };
    const kind = random.pick(often);
    return i < loaded ? null : { kind: i === loaded ? 'sample' : kind, seed: random.below(1e9), asked };
  }).filter((step) => step !== null);
}

const shuffledSometimes = <T>(items: readonly T[], random: Random) =>
  random.once(3) ? shuffled(items, random) : items;

/** A ticker of a tape that no parameter can express. */
const unservable = 'BAC/WS/A';

const barCuts: Record<string, (bar: FileBar) => string> = {
  whole: () => '',
  hour: ({ bar }) => String(Math.floor(bar.ts_ms / 3_600_000)),
  symbol: ({ symbol }) => symbol,
  instrument: tickerOf,
};

const cuts: Record<string, (print: Print) => string> = {
  whole: () => '',
  hour: ({ ms }) => String(Math.floor(ms / 3_600_000)),
  utcDate: ({ ms }) => new Date(ms).toISOString().slice(0, 10),
  date: ({ ms }) => dateOf(ms),
  session: ({ ms }) => sessionOf(ms),
  symbol: ({ symbol }) => symbol,
  venue: ({ exchange }) => String(exchange),
  size: ({ size }) => String(size < 100),
};

export class Life {
  readonly world: World;
  readonly gateway: Gateway;
  readonly book = new Book();
  readonly options = new Book();
  readonly chains = new ChainLife(this);
  readonly #folder: string;
  /** Commands so far, as a person can run them. */
  readonly script: string[] = [];
  #files = 0;
  /** The files of the last tape of options. */
  #optionFiles: readonly VendorFile[] = [];
  /** Number of prints that came by the live tape. */
  followed = 0;
  /** The state of a sample market, whose place other data takes, and if there is some. */
  readonly market = { sample: 'absent' as 'absent' | 'served', isOwn: false };
  questions = 0;
  commands = 0;

  constructor(world: World, gateway: Gateway, folder: string) {
    this.world = world;
    this.gateway = gateway;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  async take(step: Step): Promise<void> {
    this.commands++;
    // Two commands leave two generations.
    this.gateway.nowMs += 1000;
    if (step.kind === 'clock') {
      this.gateway.nowMs = step.atMs;
      this.script.push(`# the clock: ${new Date(step.atMs).toISOString()}`);
      // Chains of a sample market are none of the model's.
    } else if (step.kind !== 'recompute' || this.market.sample !== 'served')
      await commands[step.kind](this, randomOf(step.seed));
  }

  /** Asks questions of a seed, and throws `Differs` for the first whose answer is not the model's. */
  async ask(count: number, seed: number): Promise<void> {
    const random = randomOf(seed);
    const { world, book, options, gateway } = this;
    const next = () => ask({ world, book, options, chains: this.chains.book, nowMs: gateway.nowMs, random });
    for (let i = 0; i < count; i++) {
      const question = await next();
      const { caller, path, events = 0 } = question;
      if (events > 0) await this.#judge(question, await gateway.events(path, caller, events), `GET ${path}`);
      else if (!question.graph || (path !== '' && !question.isFollowed && random.once(2)))
        await this.#judge(question, await gateway.get(path, caller), `GET ${path}`);
      else {
        const all = await together(question, next, random);
        const answers = await askGraph(all, (query, by) => gateway.graph(query, by));
        for (const [n, { document, answer }] of answers.entries())
          await this.#judge(all[n]!, answer, `graph, question ${n + 1} of ${all.length}: ${document}`);
      }
    }
  }

  async #judge({ caller, judge }: Question, answer: Answer, name: string): Promise<void> {
    this.questions++;
    // These answers fill the caches of servers, whose later ones are judged.
    if (this.market.sample === 'served') return;
    const found = await judge(answer, (path) => this.gateway.get(path, caller));
    if (found) throw new Differs(`${name} (${caller}): ${found}`);
  }

  /** Prints of some symbols and sessions that have happened. */
  #prints(random: Random): Print[] {
    const { world } = this;
    const now = this.gateway.nowMs;
    const happened = world.sessions.filter((session) => newYork(plusDays(session, -1), 1200) < now);
    const last = happened.length - 1;
    const sessions = random.once(4) ? happened : [happened[last - random.below(Math.min(3, happened.length))]!];
    const some = random.pick([world.symbols, [random.pick(world.symbols)], world.symbols.filter(() => random.once(2))]);
    // A vendor's days are of New York or of UTC as often as they are trade dates.
    const length = random.pick([null, 'date', 'utcDate'] as const);
    const near = sessions.flatMap((session) => [session, ...(length ? [plusDays(session, 1)] : [])]);
    const tapes = some.flatMap(({ symbol }) =>
      world.sessions
        .filter((session) => near.includes(session) || (length && sessions.includes(session)))
        .flatMap((session) => world.tape(symbol, session)),
    );
    const isWithin = (print: Print) =>
      print.ms <= now &&
      (length === null ? sessions.includes(sessionOf(print.ms)) : sessions.includes(cuts[length]!(print)));
    return tapes.filter(isWithin);
  }

  async ingestStocks(random: Random): Promise<void> {
    const prints = this.#prints(random);
    if (prints.length === 0) return;
    const cut = cuts[random.pick(Object.keys(cuts))]!;
    const groups = new Map<string, Print[]>();
    for (const print of prints) groups.set(cut(print), [...(groups.get(cut(print)) ?? []), print]);
    let parts = [...groups.values()];
    if (random.once(3)) parts = shuffled(parts, random);
    if (random.once(5)) parts = parts.slice(0, 1 + random.below(parts.length));
    const { feed } = this.world;
    const format = random.pick(tapeFormats[feed === 'sequences' ? feed : 'all']);
    const idless = feed === 'no ids' && random.once(3);
    const files = parts.flatMap((part) => {
      let given = idless ? withoutIds(part, random) : part;
      if (random.once(6)) given = [...given, ...given.slice(0, 1 + random.below(3))];
      // Lines of a name that cannot be served are of no use, and no harm to the others.
      if ((format === 'csv' || format === 'packed') && random.once(6))
        given = [...given, ...given.slice(0, 2).map((print) => ({ ...print, symbol: unservable }))];
      if (random.once(4)) given = shuffled(given, random);
      return tapeFiles(format, given, this.nextName(), random.below(1e9)).map((file) => ({
        ...file,
        prints: file.prints.filter(({ symbol }) => symbol !== unservable),
      }));
    });
    const replace = random.once(8);
    if (random.once(3)) for (const file of files) await this.#ingestTape(random, [file], replace);
    else await this.#ingestTape(random, files, replace);
  }

  /** Bars of some instruments' sessions that have ended, as a vendor makes them of all prints. */
  async ingestBars(random: Random, dataset: BarDataset): Promise<void> {
    const { world } = this;
    const timeframe = dataset === 'stock-day-bars' ? '1d' : '1m';
    const ended = world.sessions.filter((session) => newYork(session, 1200) < this.gateway.nowMs);
    if (ended.length === 0) return;
    const sessions = random.once(3) ? ended : [random.pick(ended)];
    const isOfOptions = dataset === 'option-minute-bars';
    const all = isOfOptions ? Object.keys(optionRoots) : [...world.symbols, world.index].map(({ symbol }) => symbol);
    const symbols = random.once(2) ? all : [random.pick(all)];
    const bars: FileBar[] = [];
    const venues: (FileBar & { exchange: number })[] = [];
    for (const symbol of symbols)
      for (const session of sessions) {
        const tape = standing(isOfOptions ? world.options(symbol, session) : world.tape(symbol, session));
        for (const prints of Map.groupBy(tape, seriesOf).values()) {
          const { contract } = prints[0]!;
          const take = (some: readonly Print[]) =>
            barsOf(some, session, timeframe)
              .filter(({ volume }) => volume > 0)
              .map((bar) => ({ symbol, ...(contract && { contract }), bar: { ...bar, vwap: bar.vwap ?? bar.close } }));
          bars.push(...take(prints));
          const ofVenues = [...Map.groupBy(prints, (print) => print.exchange)].flatMap(([exchange, own]) =>
            exchange === 4 ? [] : take(own).map((each) => ({ ...each, exchange })),
          );
          // The texts do not say which of two equal volumes sets open and close.
          const isFirst = ({ bar }: FileBar, i: number) =>
            ofVenues.findIndex((each) => each.bar.ts_ms === bar.ts_ms && each.bar.volume === bar.volume) === i;
          venues.push(...ofVenues.filter(isFirst));
        }
      }
    const cut = barCuts[random.pick(Object.keys(barCuts))]!;
    const isKept = random.once(4) ? () => !random.once(3) : () => true;
    const parts = shuffledSometimes(
      [...Map.groupBy(shuffledSometimes(bars.filter(isKept), random), cut).values()],
      random,
    );
    const replace = random.once(8);
    for (const part of parts.slice(0, 3)) {
      const isOfIndex = part.every(isIndex) && random.once(2);
      const format = isOfIndex ? 'without volume' : random.pick(barFormats[dataset]);
      const own = venues.filter((each) => cut(each) === cut(part[0]!));
      for (const file of barFiles(format, part, own, this.nextName(), random.below(1e9)).slice(0, 4))
        await this.#ingestFile(dataset, file, replace, this.#refusal(file), () =>
          (isOfOptions ? this.options : this.book).takeBars(timeframe, file.bars, replace),
        );
    }
  }

  /** Quotes of some underlyings' sessions up to now, cut in any way, some of them now and then absent. */
  async ingestQuotes(random: Random): Promise<void> {
    const { world, gateway } = this;
    const begun = world.sessions.filter((session) => gateway.nowMs > openOf(session) + 3_600_000);
    if (begun.length === 0) return;
    const sessions = random.once(4) ? begun : [random.pick(begun)];
    const all = Object.keys(optionRoots);
    const some = random.once(2) ? [random.pick(all)] : all;
    const isKept = random.once(4) ? () => !random.once(10) : () => true;
    const quotes = some
      .flatMap((symbol) => sessions.flatMap((session) => world.quotes(symbol, session)))
      .filter((quote) => quote.ms <= gateway.nowMs && isKept());
    const cut = quoteCuts[random.pick(Object.keys(quoteCuts))]!;
    const parts = shuffledSometimes([...Map.groupBy(shuffledSometimes(quotes, random), cut).values()], random);
    const replace = random.once(8);
    for (const part of parts.slice(0, 3)) {
      const format = random.pick(tapeFormats[random.once(6) ? random.pick(optionFeeds) : world.optionFeed]);
      for (const file of quoteFiles(format, part, this.nextName(), random.below(1e9)).slice(0, 4))
        await this.#ingestFile('option-quotes', file, replace, null, () =>
          this.options.takeQuotes(file.quotes, replace),
        );
    }
  }

  /** Ingests a file of bars or quotes, and compares its report with what the model takes, unless it must be refused. */
  async #ingestFile(
    dataset: string,
    file: { name: string; bytes: Buffer },
    replace: boolean,
    refused: string | null,
    take: () => TapeReport,
  ): Promise<void> {
    const argv = ['ingest', dataset, ...(replace ? ['--replace'] : []), ...this.write([file])];
    const { code, json, said } = await this.run(argv);
    const report = json?.files?.[0];
    if (!report) throw new Differs(`exit code ${code} without a report: ${said}`);
    const isSilent = report.reason?.startsWith('the same content is already stored');
    const taken = refused === null ? take() : nothing;
    const expected = reportOf(isSilent ? { ...taken, fewer: [] } : taken);
    const isRefused = refused !== null || (!isSilent && taken.written.length === 0 && taken.fewer.length > 0);
    const found = {
      refused: report.status === 'refused',
      code,
      sessions: summed([report], 'sessions'),
      not_stored: summed([report], 'not_stored'),
    };
    const differs = difference(found, { refused: isRefused, code: isRefused ? 1 : 0, ...expected }, 'report');
    if (differs)
      throw new Differs(`${differs}\n  got ${JSON.stringify(report)}\n  expected ${JSON.stringify(expected)}`);
  }

  /** Cause for which a file of bars must be refused; null = none. */
  #refusal({ bars, isDivided }: BarFile): string | null {
    if (bars.length === 0) return 'empty';
    const today = dateOf(this.gateway.nowMs);
    const isBefore = ({ symbol, bar }: FileBar) =>
      [...this.book.splits.values()].some((split) => {
        return split.symbol === symbol && split.exDate > dateOf(bar.ts_ms) && split.exDate <= today;
      });
    return isDivided && bars.some(isBefore) ? 'divided' : null;
  }

  async ingestSplits(random: Random): Promise<void> {
    const { symbol, exDate, ratio } = this.world.split;
    const stated = random.once(2) ? ratio : random.pick([3, 0.25]);
    const text = `symbol,ex_date,ratio\n${symbol},${exDate},${stated}\n`;
    const argv = ['ingest', 'splits', ...this.write([{ name: `${this.nextName()}.csv`, bytes: Buffer.from(text) }])];
    const { code, json, said } = await this.run(argv);
    if (code !== 0) throw new Differs(`splits: exit code ${code}: ${JSON.stringify(json)} ${said}`);
    this.book.splits.set(`${symbol} ${exDate}`, { symbol, exDate, ratio: stated });
  }

  /** Name of the next file, without its ending. */
  nextName(): string {
    return `${++this.#files}`;
  }

  /** A ticker that no other has. */
  newTicker(): string {
    return `Q${String.fromCharCode(...[...this.nextName()].map((digit) => 65 + Number(digit)))}`;
  }

  /** The sessions of the world whose regular hours have ended. */
  ended(): string[] {
    return this.world.sessions.filter((session) => closeOf(session) + 1_200_000 <= this.gateway.nowMs);
  }

  /** Runs a command line, which becomes part of the script. */
  async run(argv: readonly string[], input?: string): Promise<Ran> {
    const [given] = input === undefined ? [] : this.write([{ name: `${this.nextName()}.ndjson`, bytes: input }]);
    this.script.push(`tapegraph ${argv.join(' ')}${given ? ` < ${given}` : ''}`);
    const ran = await this.gateway.command(argv, input);
    const { files, lines, late, change } = ran.json ?? {};
    if (!files?.some(({ status }: Json) => status !== 'refused') && !(lines > late) && !change) return ran;
    this.market.isOwn = true;
    this.market.sample = 'absent';
    return ran;
  }

  /** Breaks a command off, which leaves a sample market whole, or nothing of it. */
  async #broken(breakOff: () => Promise<unknown>): Promise<void> {
    const shown = async () => (await this.gateway.command(['sample', 'show'])).json;
    const before = await shown();
    await breakOff();
    const after = await shown();
    if (after.state === 'absent') return;
    const differs = difference(after, before, 'sample show');
    if (differs) throw new Differs(`a command that was broken off left a part of the sample market: ${differs}`);
  }

  /** Writes files and returns their paths. */
  write(files: readonly { name: string; bytes: Buffer | string }[]): string[] {
    return files.map(({ name, bytes }) => {
      const path = join(this.#folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
      return path;
    });
  }

  /** A tape of options on some underlyings: some sessions, cut and joined in any way. */
  async ingestOptions(random: Random): Promise<void> {
    const { world } = this;
    const now = this.gateway.nowMs;
    const begun = world.sessions.filter((session) => now > openOf(session) + 3_600_000);
    if (begun.length === 0) return;
    const sessions = random.once(4) ? begun : [random.pick(begun)];
    const all = Object.keys(optionRoots);
    const some = random.once(2) ? [random.pick(all)] : all;
    const of = <T extends { ms: number }>(rowsOf: (symbol: string, session: string) => readonly T[]) =>
      some.flatMap((symbol) => sessions.flatMap((session) => rowsOf(symbol, session))).filter(({ ms }) => ms <= now);
    const cut = optionCuts[random.pick(Object.keys(optionCuts))]!;
    const parts = [...Map.groupBy(of(world.options), cut).values()];
    const format = random.pick(tapeFormats[random.once(6) ? random.pick(optionFeeds) : world.optionFeed]);
    const files = parts.flatMap((part) => tapeFiles(format, part, this.nextName(), random.below(1e9)));
    const isAgain = random.once(6);
    if (!isAgain && files.length > 0 && files.length < 100) this.#optionFiles = files;
    const given = random.once(4) ? of((symbol, session) => world.quotes(symbol, session)) : [];
    const quotes =
      given.length > 0 ? quoteFiles(random.pick(['csv', 'packed', 'dbn', 'theta']), given, this.nextName(), 1) : [];
    if (this.#optionFiles.length > 0) await this.#ingestTape(random, this.#optionFiles, random.once(8), quotes);
  }

  async #ingestTape(
    random: Random,
    files: readonly VendorFile[],
    replace: boolean,
    /** Given with an option tape; null = a tape of stocks. */
    quotes: readonly QuoteFile[] | null = null,
  ): Promise<void> {
    const argv = ['ingest', quotes ? 'option-trades' : 'stock-trades', ...(replace ? ['--replace'] : [])];
    // Minutes that are solved with quotes are not of the model.
    if (quotes) argv.push('--solve-most', '0');
    argv.push(...this.write(files));
    if (quotes && quotes.length > 0) argv.push('--quotes', ...this.write(quotes));
    // The first of other data, more often.
    const isCut = random.once(this.market.sample === 'served' ? 2 : 8);
    const isKilled = isCut && this.world.kills && random.once(3);
    if (isKilled) await this.#broken(() => this.gateway.killed(argv, 500 + random.below(6000)));
    else if (isCut) await this.#broken(() => this.gateway.cut(argv, 1 + random.below(120)));
    const { code, json, said } = await this.run(argv);
    if (!json?.files) throw new Differs(`exit code ${code} without a report: ${said}`);
    const own = quotes?.flatMap((file) => file.quotes) ?? [];
    const report = (quotes ? this.options : this.book).takeTape(
      files.map(({ prints }) => prints),
      { replace, nowMs: this.gateway.nowMs, quotes: own.length > 0 ? own : null },
    );
    // A command that is repeated after a break finds all or nothing of it stored.
    if (isCut) return;
    // A file whose content is stored is not reported; it changes nothing.
    const isSilent = ({ reason }: Json) => reason?.startsWith('the same content is already stored');
    const spoken = files.filter((_, i) => !isSilent(json.files[i]));
    const isReported = ({ symbol, session }: PartReport) => spoken.some((file) => hasPrints(file, symbol, session));
    for (const part of report.written) {
      if (isReported(part) || part.before === part.count) continue;
      throw new Differs(`unchanged, but ${JSON.stringify(part)}: ${JSON.stringify(json.files)}`);
    }
    const expected = reportOf({
      written: report.written.filter(isReported),
      waiting: report.waiting.filter(isReported),
      fewer: report.fewer.filter(isReported),
      sealed: report.sealed.filter(isReported),
    });
    const found = { sessions: summed(json.files, 'sessions'), not_stored: summed(json.files, 'not_stored') };
    const differs = difference(found, expected, 'report');
    if (differs)
      throw new Differs(`${differs}\n  got ${JSON.stringify(found)}\n  expected ${JSON.stringify(expected)}`);
    const rows = json.files.map((file: Json) => file.rows);
    const wrongRows = difference(
      rows,
      files.map(({ prints }) => prints.length),
      'rows',
    );
    if (wrongRows) throw new Differs(`${wrongRows} ${JSON.stringify(json.files)}`);
  }
}

const hasPrints = ({ prints }: VendorFile, symbol: string, session: string) =>
  prints.some((print) => print.symbol === symbol && sessionOf(print.ms) === session);

/** Kinds of commands. */
const commands = {
  stocks: (life: Life, random: Random) => life.ingestStocks(random),
  bars: (life: Life, random: Random) =>
    life.ingestBars(random, random.pick(['stock-minute-bars', 'stock-day-bars'] as const)),
  optionBars: (life: Life, random: Random) => life.ingestBars(random, 'option-minute-bars'),
  splits: (life: Life, random: Random) => life.ingestSplits(random),
  options: (life: Life, random: Random) => life.ingestOptions(random),
  optionQuotes: (life: Life, random: Random) => life.ingestQuotes(random),
  ...chainCommands,
  defect: ingestDefect,
  seal: sealAndUndo,
  reconcile,
  follow,
  prune,
  restart,
  sample,
};

/** Each kind as often as it is taken. */
const tapes = (
  ['stocks', 'stocks', 'stocks', 'stocks', 'bars', 'options', 'options', 'optionBars', 'optionQuotes'] as const
).flatMap((kind) => [kind, kind]);
const others = ['splits', 'defect', 'seal', 'reconcile', 'follow', 'follow', 'prune', 'restart', 'sample'] as const;
const often = [...tapes, ...others, ...oftenOfChains];

const optionFeeds = Object.keys(tapeFormats) as World['optionFeed'][];

/** Cuts of option tapes. */
const optionCuts: Record<string, (print: Print) => string> = {
  ...cuts,
  right: ({ contract }) => contract!.right,
  expiry: ({ contract }) => contract!.expiry,
  root: ({ contract }) => contract!.root,
};

/** Cuts of quotes; the last one cuts within minutes. */
const quoteCuts: Record<string, (quote: Quote) => string> = {
  whole: () => '',
  hour: ({ ms }) => String(Math.floor(ms / 3_600_000)),
  symbol: ({ symbol }) => symbol,
  contract: tickerOf,
  nanos: ({ nanos }) => String(nanos > 0),
};

/** Prints whose ids identify nothing, as some feeds have them. */
function withoutIds(prints: readonly Print[], random: Random): Print[] {
  const id = random.pick(['0', '7']);
  return prints.filter(({ correction }) => correction === 0).map((print) => ({ ...print, id, sequence: 0 }));
}

interface Sums {
  session: string;
  reason?: string;
  symbols: number;
  count?: number;
  before?: number | null;
  after?: number;
}

const bySession = (a: Sums, b: Sums) => (`${a.session}${a.reason}` < `${b.session}${b.reason}` ? -1 : 1);

const nothing: TapeReport = { written: [], waiting: [], fewer: [], sealed: [] };

/** Lists of a report's files as one, without names of files. */
function summed(files: readonly Json[], list: string): Sums[] {
  const all: Sums[] = files.flatMap((file) => file[list]);
  if (list === 'sessions')
    return all
      .map(({ session, symbols, before, after }) => ({ session, symbols, before: before ?? null, after: after! }))
      .sort(bySession);
  // Files that are stored one by one have a line each.
  const alike = Map.groupBy(all, ({ session, reason }) => `${session} ${reason}`);
  const sum = (of: readonly Sums[], name: 'symbols' | 'count') => of.reduce((total, each) => total + each[name]!, 0);
  return [...alike.values()]
    .map((of) => ({
      session: of[0]!.session,
      symbols: sum(of, 'symbols'),
      reason: of[0]!.reason!,
      count: sum(of, 'count'),
    }))
    .sort(bySession);
}

/** The same lists as the model has them. */
function reportOf({ written, waiting, fewer, sealed }: TapeReport): { sessions: Sums[]; not_stored: Sums[] } {
  const sessionsOf = (parts: readonly PartReport[]) => [...new Set(parts.map(({ session }) => session))];
  const symbolsOf = (parts: readonly PartReport[]) => new Set(parts.map(({ symbol }) => symbol)).size;
  const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
  const left = Object.entries({ waiting, fewer, sealed }).flatMap(([reason, parts]) =>
    sessionsOf(parts).map((session) => {
      const own = parts.filter((part) => part.session === session);
      return { session, symbols: symbolsOf(own), reason, count: sum(own.map(({ count }) => count)) };
    }),
  );
  const sessions = sessionsOf(written).map((session) => {
    const own = written.filter((part) => part.session === session);
    const before = own.map((part) => part.before);
    const isOther = before.includes(null);
    const counts = {
      before: isOther ? null : sum(before.map((each) => each!)),
      after: sum(own.map(({ count }) => count)),
    };
    return { session, symbols: symbolsOf(own), ...counts };
  });
  return { sessions: sessions.sort(bySession), not_stored: left.sort(bySession) };
}

/** The first instant of a world's clock: early in its first session. */
export const firstInstant = (world: World): number => newYork(world.sessions[0]!, 480);
