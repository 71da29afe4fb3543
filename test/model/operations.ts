// Commands beside the ingests of good files: files to refuse, seals, reconciliations, a live tape, a sample market.

import type { Random } from '../support/random.ts';
import { newYork, openOf, sessionOf, tradingDay } from './calendar.ts';
import { chainFile } from './chain-files.ts';
import { chainUnderlyings, downloadTimes, pageOf } from './chains.ts';
import { barsOf } from './figures.ts';
import { Differs, type Life } from './life.ts';
import { barFiles, liveLine, quoteFiles, tapeFiles, tapeFormats } from './vendors.ts';
import { optionRoots, type Print } from './world.ts';

/** Throws `Differs` unless a call refused some files and stored the others, with the exit code that says so. */
async function expectRefused(
  life: Life,
  dataset: string,
  files: readonly { name: string; bytes: string | Buffer; isBad: boolean }[],
) {
  const { code, json, said } = await life.run(['ingest', dataset, ...life.write(files)]);
  const wrong = files.find(({ isBad }, i) => (json?.files?.[i]?.status === 'refused') !== isBad);
  if (!wrong && code === 1) return;
  throw new Differs(
    `refused files: ${wrong?.name ?? 'all as expected'}, code ${code}: ${JSON.stringify(json?.files) ?? said}`,
  );
}

const hours = (session: string) =>
  Array.from({ length: 6 }, (_, i) => {
    const [open, ts_ms] = [100 + i, openOf(session) + 1_800_000 + i * 3_600_000];
    return {
      symbol: 'SPY',
      bar: { ts_ms, open, high: open, low: open, close: open, volume: 100, vwap: open, trade_count: 1, weight: 100 },
    };
  });

/** Files that must be refused, and change nothing. */
const defects: Record<string, (life: Life, random: Random, prints: readonly Print[]) => Promise<void>> = {
  async nothing(life, random, prints) {
    const [file] = tapeFiles('csv', prints.slice(0, 1), life.nextName(), random.below(1e9));
    const [header, line] = String(file!.bytes).split('\n');
    const bytes = random.pick([
      header!,
      `${header}\n${line!.replaceAll(/[^,]+/g, 'x')}`,
      `${header}\n${line!.replace('SPY', 'AAB.WS.A')}`,
    ]);
    await expectRefused(life, 'stock-trades', [{ ...file!, bytes, isBad: true }]);
  },
  /** An error that no reader foresees: the database cannot hold a name. */
  async unforeseen(life) {
    const [bad, good] = ['ABCD,one\u0000two', `${life.newTicker()},A Company`];
    const files = [bad, good].map((line) => ({
      name: `${life.nextName()}.csv`,
      bytes: `symbol,name,listed\n${line},false`,
      isBad: line === bad,
    }));
    await expectRefused(life, 'symbols', files);
  },
  /** One bad line among good ones. */
  async badLine(life, random, prints) {
    const [file] = tapeFiles('csv', prints.slice(0, 20), life.nextName(), random.below(1e9));
    const lines = String(file!.bytes).split('\n');
    lines.splice(1 + random.below(lines.length), 0, lines.at(-1)!.replaceAll(/\d+/g, '-1'));
    await expectRefused(life, 'stock-trades', [{ ...file!, bytes: lines.join('\n'), isBad: true }]);
  },
  async hourly(life, random) {
    const [file] = barFiles('csv', hours(random.pick(life.ended())), [], life.nextName(), 1);
    await expectRefused(life, 'stock-minute-bars', [{ ...file!, isBad: true }]);
  },
  /** Two lines of one bar that differ. */
  async twice(life, random) {
    const [bar] = hours(random.pick(life.ended()));
    const [file] = barFiles('csv', [bar!, { ...bar!, bar: { ...bar!.bar, volume: 200 } }], [], life.nextName(), 1);
    await expectRefused(life, 'stock-minute-bars', [{ ...file!, isBad: true }]);
  },
  /** Shares without a volume. */
  async noVolume(life, random) {
    const [bar] = hours(random.pick(life.ended()));
    const [file] = barFiles('without volume', [bar!], [], life.nextName(), 1);
    await expectRefused(life, 'stock-minute-bars', [{ ...file!, isBad: true }]);
  },
};

export async function ingestDefect(life: Life, random: Random): Promise<void> {
  const prints = life.world.tape('SPY', life.world.sessions[0]!).filter(({ ms }) => ms <= life.gateway.nowMs);
  if (prints.length === 0 || life.ended().length === 0) return;
  await defects[random.pick(Object.keys(defects))]!(life, random, prints);
}

/** Files that would change a session of a symbol, by the command that reads them. */
function changes(life: Life, symbol: string, session: string, seed: number) {
  const { world } = life;
  const csv = (prints: readonly Print[]) => {
    const others = prints.map((print) => ({ ...print, price: print.price + 100 }));
    return tapeFiles('csv', others, life.nextName(), seed);
  };
  const stocks = world.symbols.some((each) => each.symbol === symbol) ? csv(world.tape(symbol, session)) : [];
  const options = optionRoots[symbol] ? csv(world.options(symbol, session)) : [];
  const chains = chainUnderlyings(world).includes(symbol) ? [pageOf(world, symbol, downloadTimes(session)[1]!)] : [];
  const others = chains.map(({ lines, ...of }) => ({ ...of, lines: lines.map((line) => ({ ...line, volume: 77 })) }));
  const files = chains.length > 0 ? [chainFile('exchangeJson', others, { name: life.nextName(), defect: null })] : [];
  const of = (...command: string[]) => command;
  return [
    { command: of('ingest', 'stock-trades', '--replace'), files: stocks },
    { command: of('reconcile', '--session', session), files: stocks },
    { command: of('ingest', 'option-trades', '--replace', '--solve-most', '0'), files: options },
    { command: of('reconcile', '--session', session, '--solve-most', '0'), files: options },
    { command: of('ingest', 'chain', '--replace'), files },
  ].filter((change) => change.files.length > 0);
}

/** Seals a stored session of a symbol, which nothing then changes, and takes the seal off. */
export async function sealAndUndo(life: Life, random: Random): Promise<void> {
  const { book, options, world } = life;
  const symbols = [...world.symbols.map((each) => each.symbol), ...Object.keys(optionRoots)];
  const stored = symbols.flatMap((symbol) =>
    [...book.sessionsOf(symbol), ...options.sessionsOf(symbol)].map((session) => ({ symbol, session })),
  );
  const over = stored.filter(({ session }) => life.ended().includes(session));
  if (over.length === 0) return;
  const { symbol, session } = random.pick(over);
  const seal = async (more: string[], status: string) => {
    const { json, said } = await life.run(['seal', '--session', session, '--symbols', symbol, ...more]);
    if (json?.status !== status) throw new Differs(`seal: ${JSON.stringify(json)} ${said}, expected ${status}`);
  };
  // Options of a tape that was read before the end are not reconciled.
  if (options.isLive(symbol, session)) return seal([], 'refused');
  await seal([], 'sealed');
  const { command, files } = random.pick(changes(life, symbol, session, random.below(1e9)));
  const { code, json } = await life.run([...command, ...life.write(files)]);
  if (code !== 1) throw new Differs(`a sealed session: code ${code}, ${JSON.stringify(json)}`);
  await seal(['--undo'], 'undone');
}

/** Makes a session again from some symbols' tapes, of options with quotes or without; other sessions are skipped. */
export async function reconcile(life: Life, random: Random): Promise<void> {
  const { world } = life;
  const over = life.ended();
  if (over.length === 0) return;
  const session = random.pick(over);
  const isOfOptions = random.once(2);
  const all = isOfOptions ? Object.keys(optionRoots) : world.symbols.map(({ symbol }) => symbol);
  const some = all.filter(() => random.once(2));
  const tapes = (of: string) =>
    some.flatMap((symbol) => (isOfOptions ? world.options(symbol, of) : world.tape(symbol, of)));
  const beside = tradingDay(session, random.pick([-1, 1]));
  const own = tapes(session).filter(() => !random.once(10));
  const others = world.sessions.includes(beside) ? tapes(beside) : [];
  const prints = [...own, ...others.filter(() => random.once(3))].filter(({ ms }) => ms <= life.gateway.nowMs);
  if (own.length === 0) return;
  const format = random.pick(isOfOptions ? tapeFormats[world.optionFeed] : (['csv', 'packed'] as const));
  const files = tapeFiles(format, prints, life.nextName(), random.below(1e9));
  const isQuoted = isOfOptions && random.once(2);
  const given = (isQuoted ? some : [])
    .flatMap((symbol) => world.quotes(symbol, session))
    .filter(({ ms }) => ms <= life.gateway.nowMs);
  const quotes =
    given.length > 0 ? quoteFiles(random.pick(['csv', 'packed', 'dbn', 'theta']), given, life.nextName(), 1) : [];
  const argv = ['reconcile', '--session', session, ...(isOfOptions ? ['--solve-most', '0'] : []), ...life.write(files)];
  if (quotes.length > 0) argv.push('--quotes', ...life.write(quotes));
  const { code, json, said } = await life.run(argv);
  const { written } = (isOfOptions ? life.options : life.book).takeTape(
    files.map((file) => file.prints),
    { replace: true, only: session, quotes: quotes.length > 0 ? quotes.flatMap((file) => file.quotes) : null },
  );
  const after = written.reduce((sum, { count }) => sum + count, 0);
  if (code === 0 && (json.change?.after ?? 0) === after && (json.change?.symbols ?? 0) === written.length) return;
  throw new Differs(
    `reconcile: code ${code}, ${JSON.stringify(json)} ${said}; expected ${after} prints of ${written.length}`,
  );
}

/** Deletes what later data replaced: nothing of what is in force. */
export async function prune(life: Life): Promise<void> {
  const { code, json, said } = await life.run(['prune', '--all']);
  if (code !== 0) throw new Differs(`prune: code ${code}, ${JSON.stringify(json)} ${said}`);
  life.chains.book.prunedMs = life.gateway.nowMs;
}

/** Starts a server in place of one. */
export async function restart(life: Life): Promise<void> {
  life.script.push('# a server is restarted');
  await life.gateway.restart();
}

/** Follows what has come of a live tape since the last time, now and then with a print of a session that is over. */
export async function follow(life: Life, random: Random): Promise<void> {
  const { world, book, gateway } = life;
  const { symbol } = world.followed;
  const happened = world.sessions
    .flatMap((session) => world.tape(symbol, session))
    .filter(({ ms }) => ms <= gateway.nowMs);
  const prints = happened.filter(({ correction }) => correction === 0).slice(life.followed);
  if (prints.length === 0) return;
  const last = prints.at(-1)!;
  const before = tradingDay(sessionOf(last.ms), -1);
  const isOver = last.ms > newYork(before, 1201) && world.sessions.includes(before);
  const late =
    isOver && random.once(2)
      ? world
          .tape(symbol, before)
          .slice(0, 1)
          .map((print) => ({ ...print, id: 'late' }))
      : [];
  const { code, json, said } = await life.run(['follow'], [...prints, ...late].map(liveLine).join(''));
  life.followed += prints.length;
  book.follow(symbol, prints);
  const expected = [prints.length + late.length, 0, late.length, 0];
  const found = [json?.lines, json?.bad_lines, json?.late, json?.duplicates];
  if (code === 0 && `${found}` === `${expected}`) return;
  throw new Differs(`follow: code ${code}, lines, bad, late, duplicates ${found}, expected ${expected} ${said}`);
}

/** Files of a simulated market: of the world's symbols and underlyings, at other prices. */
function sampleFiles(life: Life, random: Random) {
  const { world } = life;
  const { sessions, split } = world;
  const { nowMs } = life.gateway;
  const some = sessions.filter((session) => openOf(session) < nowMs && random.once(2));
  const dearer = (prints: readonly Print[]) =>
    prints.filter(({ ms }) => ms <= nowMs).map((print) => ({ ...print, price: 2 * print.price }));
  const nextName = () => `sample/${life.nextName()}`;
  const csv = (lines: readonly string[]) => [{ name: `${nextName()}.csv`, bytes: lines.join('\n') }];
  const prints = [...world.symbols, world.followed].flatMap(({ symbol }) =>
    some.flatMap((session) => dearer(world.tape(symbol, session))),
  );
  const [symbol, root] = [random.pick(world.symbols).symbol, random.pick(Object.keys(optionRoots))];
  const days = life.ended().flatMap((session) => barsOf(dearer(world.tape(symbol, session)), session, '1d'));
  const bars = days.map((bar) => ({ symbol, bar: { ...bar, vwap: bar.vwap ?? bar.close } }));
  const times = some.flatMap(downloadTimes).filter((ms) => ms < nowMs && random.once(5));
  const chains = times.flatMap((ms) =>
    chainUnderlyings(world).map((underlying) => {
      const page = pageOf(world, underlying, ms);
      const lines = page.lines.map((line) => ({ ...line, openInterest: 2 * (line.openInterest ?? 0) }));
      return chainFile('exchangeJson', [{ ...page, lines }], { name: nextName(), defect: null });
    }),
  );
  const options = some.flatMap((session) => dearer(world.options(root, session)));
  return {
    splits: csv(['symbol,ex_date,ratio', `${split.symbol},${split.exDate},7`]),
    dividends: csv(['symbol,ex_date,amount', `SPY,${tradingDay(sessions[0]!, 1)},9`]),
    rates: csv(['date,days,rate', `${sessions[0]},30,0.2`]),
    'stock-day-bars': bars.length > 0 ? barFiles('csv', bars, [], nextName(), 1) : [],
    'stock-trades': prints.length > 0 ? tapeFiles('csv', prints, nextName(), 1) : [],
    'option-trades': options.length > 0 ? tapeFiles('csv', options, nextName(), 1) : [],
    chain: chains,
  };
}

/** Loads a sample market into a store without other data; takes out one that is there. */
export async function sample(life: Life, random: Random): Promise<void> {
  if (life.market.sample === 'absent' && !life.market.isOwn) {
    life.script.push('# a sample market is loaded');
    const files = Object.entries(sampleFiles(life, random));
    await life.gateway.storeSample(Object.fromEntries(files.map(([dataset, own]) => [dataset, life.write(own)])));
    life.market.sample = 'served';
  } else if (life.market.sample !== 'absent') {
    const { code, json, said } = await life.run(['sample', 'remove', '--yes']);
    if (code !== 0 || !json.removed) throw new Differs(`sample remove: code ${code}, ${JSON.stringify(json)} ${said}`);
    life.market.sample = 'absent';
  }
  const { json } = await life.run(['sample', 'show']);
  if (json?.state !== life.market.sample) throw new Differs(`sample ${json?.state}, expected ${life.market.sample}`);
}
