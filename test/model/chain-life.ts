// Commands on chains: downloads of any parts in any format, what comes again, open interest, reference data, recompute.
import type { Dividend } from '../../src/core/domain/market/dividends.ts';
import type { Json } from '../support/app.ts';
import { type Random, shuffled } from '../support/random.ts';
import { difference } from './ask.ts';
import { dateOf, openOf, plusDays, tradingDay } from './calendar.ts';
import { ChainBook, type Taken } from './chain-book.ts';
import {
  type ChainFile,
  type ChainFormat,
  type ChainPart,
  chainDefects,
  chainFile,
  chainFormats,
  ofOne,
  type SourceChain,
} from './chain-files.ts';
import { type ChainLine, chainUnderlyings, downloadTimes, knownTerms, pageOf } from './chains.ts';
import { Differs, type Life } from './life.ts';
import { contractPath } from './world.ts';

/** Cuts of a chain into files. */
const cuts: Record<string, (line: ChainLine, middle: number) => string> = {
  whole: () => '',
  expiry: ({ expiry }) => expiry,
  right: ({ right }) => right,
  root: ({ root }) => root,
  'expiry and right': ({ expiry, right }) => `${expiry} ${right}`,
  strikes: ({ strike }, middle) => String(strike < middle),
};
const wholeRows = new Set(['whole', 'expiry', 'root', 'strikes']);
const otherRoots = {
  SPXW: { ...knownTerms.SPXW!, style: 'american' },
  AAPL: { ...knownTerms.AAPL!, style: 'european' },
} as const;

/** One file that was downloaded. */
interface Download {
  format: ChainFormat;
  /** One of each underlying. */
  parts: readonly ChainPart[];
}

export class ChainLife {
  readonly book = new ChainBook();
  readonly #life: Life;
  readonly #downloads: Download[] = [];

  constructor(life: Life) {
    this.#life = life;
  }

  /** Downloads the chains of some underlyings at an instant that has come, in parts. */
  async download(random: Random): Promise<void> {
    const { world, gateway } = this.#life;
    const come = world.sessions.flatMap(downloadTimes).filter((ms) => ms + 20 * 60_000 < gateway.nowMs);
    if (come.length === 0) return;
    // Now and then at an instant of which other parts are stored.
    const before = random.once(4) && this.#downloads.length > 0 ? random.pick(this.#downloads).parts[0]!.ms : null;
    const ms = before ?? (random.once(2) ? random.pick(come.slice(-8)) : random.pick(come));
    const all = shuffled(chainUnderlyings(world), random);
    const underlyings = all.slice(0, random.once(3) ? 2 + random.below(2) : 1);
    const name = random.pick(Object.keys(cuts));
    const mayBeOfOne = underlyings.length === 1 || random.once(6);
    const isGood = (each: ChainFormat) => (each !== 'orats' || wholeRows.has(name)) && (mayBeOfOne || !ofOne.has(each));
    const format = random.pick(chainFormats.filter(isGood));
    const keyOf = (line: ChainLine) => {
      const { lines } = pageOf(world, underlyings.find((each) => knownTerms[line.root]!.underlying === each)!, ms);
      return cuts[name]!(line, lines[Math.floor(lines.length / 2)]!.strike);
    };
    const keys = [...new Set(underlyings.flatMap((each) => pageOf(world, each, ms).lines.map(keyOf)))];
    const [gap, apart] = [random.pick([0, 5000, 30_000, 90_000, 240_000]), random.pick([0, 7000])];
    const isSpotless = random.once(5);
    const kept = random.once(4) ? keys.filter(() => !random.once(4)) : keys;
    const downloads = kept.map((key, i): Download => {
      const parts = underlyings.map((underlying, j): ChainPart => {
        const page = pageOf(world, underlying, ms + i * gap + j * apart);
        const own = page.lines.filter((line) => keyOf(line) === key);
        return { ...page, spot: isSpotless ? null : page.spot, lines: thinned(own, random) };
      });
      return { format, parts: parts.filter(({ lines }) => lines.length > 0) };
    });
    await this.#ingest(downloads, random);
  }

  /** A download comes again: the same, corrected, with more or with less, or in another format. */
  async again(random: Random): Promise<void> {
    if (this.#downloads.length === 0) return;
    const { format, parts } = random.pick(this.#downloads);
    const change = random.pick<(part: ChainPart) => ChainPart>([
      (same) => same,
      ({ lines, ...of }) => ({ ...of, lines: lines.map((line) => ({ ...line, bid: line.bid && line.bid / 2 })) }),
      ({ lines, ...of }) => ({ ...of, lines: lines.filter(() => !random.once(6)) }),
      ({ lines, ...of }) => ({
        ...of,
        lines: lines.map((line) => (random.once(2) ? { ...line, bid: null, ask: null } : line)),
      }),
      (of) => ({ ...of, spot: null }),
      (of) => ({ ...of, spot: of.spot && of.spot + 0.01 }),
      (of) => ({ ...of, lines: pageOf(this.#life.world, of.underlying, of.ms).lines }),
      (of) => ({
        ...of,
        lines: pageOf(this.#life.world, of.underlying, of.ms).lines.filter(() => !random.once(6)),
      }),
    ]);
    const of = random.pick(parts);
    const changed = parts.map((part) => (part === of ? change(part) : part)).filter(({ lines }) => lines.length > 0);
    if (changed.length === 0) return;
    await this.#ingest(
      [{ format: random.once(4) && format !== 'orats' ? 'exchangeJson' : format, parts: changed }],
      random,
    );
  }

  async #ingest(downloads: readonly Download[], random: Random): Promise<void> {
    const life = this.#life;
    const defect = random.once(5) ? random.pick(chainDefects) : null;
    const files = downloads.map(({ format, parts }, i) => {
      const name = life.nextName();
      return chainFile(format, parts, { name, defect: i === 0 ? defect : null });
    });
    this.#downloads.push(...downloads);
    const ordered = random.once(2) ? shuffled(files, random) : files;
    const [replace, maxErrors] = [random.once(8), random.once(2) ? 3 : 0];
    const isOfMany = files.some(({ chains }) => chains.length > 1);
    const only = random.once(isOfMany ? 3 : 12)
      ? shuffled(chainUnderlyings(life.world), random).slice(0, 1 + random.below(2))
      : null;
    // Files that were read for some underlyings are read again for the others.
    for (const symbols of only ? [only, null] : [null])
      for (const some of random.once(3) ? ordered.map((file) => [file]) : [ordered])
        if (some.length > 0) await this.#ingestFiles(some, { replace, maxErrors, only: symbols });
  }

  async #ingestFiles(
    files: readonly ChainFile[],
    { replace, maxErrors, only }: { replace: boolean; maxErrors: number; only: readonly string[] | null },
  ) {
    const options = [...(replace ? ['--replace'] : []), ...(maxErrors > 0 ? ['--max-errors', String(maxErrors)] : [])];
    if (only) options.push('--symbols', only.join());
    const { json, code, said } = await this.#life.run(['ingest', 'chain', ...options, ...this.#life.write(files)]);
    if (!json?.files) throw new Differs(`exit code ${code} without a report: ${said}`);
    const chosen = files.map(({ chains }) => chains.filter(({ underlying }) => only?.includes(underlying) ?? true));
    const expected = files.map(({ badLines }, i): Json => {
      const chains = chosen[i]!;
      const taken = chains.length === 0 || badLines > maxErrors ? null : this.book.takeAll(chains, replace);
      return taken === null ? { status: 'refused' } : reported(taken, chains, badLines);
    });
    const found = json.files.map(({ status, rows, reason, bad_line_count, notes }: Json, i: number) => {
      // Notes on one of several chains begin with its underlying.
      const named = (underlying: string) => (files[i]!.chains.length > 1 ? `${underlying}: ` : '');
      const chains = chosen[i]!.map(({ underlying }) => {
        const note = notes.filter((each: string) => each.startsWith(named(underlying))).join('; ');
        const numbers = (text: RegExp) => text.exec(note)?.slice(1).map(Number) ?? null;
        const isCovered = `${note}${reason}`.match(/stored has all of it|the same content/) !== null;
        return {
          lacks: numbers(/lacks (\d+) of (\d+) expiries/),
          others: numbers(/with (\d+) other/)?.[0] ?? 0,
          isCovered,
        };
      });
      return { status, rows, bad_line_count, chains };
    });
    const differs = difference(found, expected, 'report');
    if (differs)
      throw new Differs(`${differs}\n  got ${JSON.stringify(json.files)}\n  expected ${JSON.stringify(expected)}`);
    this.#end();
  }

  #end(): void {
    this.book.end(this.#life.gateway.nowMs);
  }

  /** Open interest of a session's contracts. */
  async interest(random: Random): Promise<void> {
    const { world, gateway } = this.#life;
    const begun = world.sessions.filter((session) => openOf(session) < gateway.nowMs);
    if (begun.length === 0) return;
    const [underlying, session] = [random.pick(chainUnderlyings(world)), random.pick(begun)];
    const factor = random.pick([1, 1, 3]);
    const page = pageOf(world, underlying, openOf(session) + 60_000);
    const lines = random.once(2) ? page.lines : page.lines.filter(() => random.once(2));
    const counts = new Map(lines.map((line) => [contractPath(line), line.openInterest! * factor]));
    if (counts.size === 0) return;
    const rows = Array.from(counts, ([ticker, count]) => `${ticker},${count},${session}`);
    await this.#reference('open-interest', ['ticker,open_interest,session_date', ...rows]);
    this.book.takeInterest(underlying, session, counts);
    this.#end();
  }

  /** Rates, dividends or roots that change. */
  async refer(random: Random): Promise<void> {
    const { world, gateway } = this.#life;
    const { sessions } = world;
    const { reference } = this.book;
    const kind = random.pick(['rates', 'rates', 'dividends', 'roots'] as const);
    if (kind === 'rates') {
      const come = sessions.filter((session) => session <= dateOf(this.#life.gateway.nowMs));
      const date = plusDays(random.pick(come), -random.below(3));
      const points = [7, 90, 365].map((days) => ({ date, days, rate: random.pick([0.02, 0.04, 0.06, 0.09]) }));
      // A curve of a day that has not come is refused.
      const isKnown = date <= dateOf(gateway.nowMs + 3_600_000);
      const lines = ['date,days,rate', ...points.map((point) => Object.values(point).join())];
      await this.#reference('rates', lines, isKnown ? 0 : 1);
      if (isKnown) this.book.refer({ rates: [...reference.rates.filter((each) => each.date !== date), ...points] });
    } else if (kind === 'dividends') {
      const [symbol, exDate] = [random.pick(['SPY', 'AAPL']), tradingDay(random.pick(sessions), random.below(9))];
      const [amount, type] = [random.pick([0.5, 1.5, 3]), 'regular' as const];
      await this.#reference('dividends', ['symbol,ex_date,amount', `${symbol},${exDate},${amount}`]);
      const dividend: Dividend = { symbol, exDate, kind: type, amount, ratio: null, declared: null };
      const others = reference.dividends.filter((each) => each.symbol !== symbol || each.exDate !== exDate);
      this.book.refer({ dividends: [...others, dividend] });
    } else {
      const root = random.pick(Object.keys(otherRoots) as (keyof typeof otherRoots)[]);
      const terms = random.once(2) ? otherRoots[root] : knownTerms[root]!;
      const { underlying, style, settlement } = terms;
      await this.#reference('roots', [
        'root,underlying,style,settlement',
        `${root},${underlying},${style},${settlement}`,
      ]);
      this.book.refer({ roots: { ...reference.roots, [root]: terms } });
    }
    this.#end();
  }

  async #reference(dataset: string, lines: readonly string[], expected = 0): Promise<void> {
    const life = this.#life;
    const file = { name: `${life.nextName()}.csv`, bytes: Buffer.from(lines.join('\n')) };
    const { code, said } = await life.run(['ingest', dataset, ...life.write([file])]);
    if (code !== expected) throw new Differs(`exit code ${code}: ${said}`);
  }

  /** Recomputes all chains: nothing moves if the reference data is that of before. */
  async recompute(): Promise<void> {
    const { code, json, said } = await this.#life.run(['recompute', 'chain']);
    if (code !== 0) throw new Differs(`exit code ${code}: ${said}`);
    const mayMove = this.book.recompute();
    if (json.recomputed > 0 && !mayMove) throw new Differs(`recomputed, but nothing changed: ${JSON.stringify(json)}`);
    this.#end();
  }
}

/** The report of a file on the groups that its chains are in. */
function reported(taken: readonly Taken[], chains: readonly SourceChain[], badLines: number): Json {
  const is = (kind: Taken['kind']) => taken.some((each) => each.kind === kind);
  const mayChange = taken.some((each) => each.kind === 'same' || (each.kind === 'equal' && each.isSolvedAgain));
  return {
    rows: chains.reduce((sum, { lines }) => sum + lines.length, 0),
    ...(is('stored') ? { status: 'stored' } : !mayChange && { status: 'unchanged' }),
    ...(!is('same') && !is('equal') && { bad_line_count: badLines }),
    chains: taken.map((each) => {
      if (each.kind === 'covered') return { isCovered: true };
      if (each.kind !== 'stored') return {};
      const { files, subset, lacking, pairs } = each.capture;
      return { isCovered: false, others: files.length - 1, lacks: subset ? [lacking, pairs] : null };
    }),
  };
}

/** Lines whose optional values are now and then not stated, or that have no quotes. */
function thinned(lines: readonly ChainLine[], random: Random): ChainLine[] {
  const absent = random.pick([
    ...[
      [],
      [],
      ['iv', 'delta', 'gamma', 'theta', 'vega'],
      ['openInterest'],
      ['last', 'volume'],
      ['theta', 'vega'],
      ['bid', 'ask'],
    ],
  ] as const);
  const often = random.pick([1, 4, 20]);
  const isQuotes = absent.some((name) => name === 'bid');
  return lines.map((line) => {
    const isThin = random.once(isQuotes ? 20 : often);
    return isThin ? { ...line, ...Object.fromEntries(absent.map((name) => [name, null])) } : line;
  });
}

/** Kinds of commands on chains. */
export const chainCommands = {
  chains: ({ chains }: Life, random: Random) => chains.download(random),
  again: ({ chains }: Life, random: Random) => chains.again(random),
  interest: ({ chains }: Life, random: Random) => chains.interest(random),
  refer: ({ chains }: Life, random: Random) => chains.refer(random),
  recompute: ({ chains }: Life) => chains.recompute(),
};

/** Each as often as it is taken. */
export const oftenOfChains = [
  ...(['chains', 'chains', 'chains', 'chains', 'again', 'again'] as const),
  ...(['interest', 'recompute', 'refer'] as const),
];
