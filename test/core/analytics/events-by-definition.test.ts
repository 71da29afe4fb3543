import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OptionPrint, OptionQuote } from '../../../src/core/domain/market/print.ts';
import { runTape, type TapeRecord } from '../../support/tapes/option-tape.ts';
import { isPrint, microsOf, tapes } from '../../support/tapes/tapes.ts';

/*
 * The definition of large trades written out once more, over a whole tape at once and without a thought for speed, to
 * hold the streaming detector against. Only tables of the definition are repeated, none of the code.
 */

const multiLegIds = [232, 233, 234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246];
const sweepIds = [209, 219, 228, 230];
const sidelessIds = [202, 204, 206, 208, 210, 229, 230, 234, 241];
const isOneOf = (print: OptionPrint, ids: readonly number[]) => print.conditions.some((id) => ids.includes(id));

function sideByDefinition(print: OptionPrint, quotes: readonly OptionQuote[]): string {
  const inForce = quotes
    .filter((quote) => quote.contract === print.contract && microsOf(quote) <= microsOf(print))
    .at(-1);
  if (!inForce || microsOf(print) - microsOf(inForce) > 5_000_000 || isOneOf(print, sidelessIds)) return 'unknown';
  const share = (print.price - inForce.bid) / (inForce.ask - inForce.bid);
  return share >= 0.6 ? 'buy_inferred' : share <= 0.4 ? 'sell_inferred' : 'neutral';
}

/**
 * Cuts prints into groups of one key, each not over the gap from the one before nor over the span from the group's
 * first.
 */
function groups(prints: readonly OptionPrint[], key: (print: OptionPrint) => string, gap: number, span: number) {
  const open = new Map<string, OptionPrint[]>();
  const all: OptionPrint[][] = [];
  for (const print of prints) {
    const group = open.get(key(print));
    const at = microsOf(print);
    if (group && at - microsOf(group.at(-1)!) <= gap && at - microsOf(group[0]!) <= span) group.push(print);
    else {
      const fresh = [print];
      open.set(key(print), fresh);
      all.push(fresh);
    }
  }
  return all;
}

const several = (prints: readonly OptionPrint[], of: (print: OptionPrint) => unknown) =>
  new Set(prints.map(of)).size > 1;

function eventsByDefinition(records: readonly TapeRecord[]) {
  const quotes = records.filter((record): record is OptionQuote => !isPrint(record));
  const prints = records.filter(isPrint).filter((print) => !isOneOf(print, [247]));
  const side = new Map(prints.map((print) => [print, sideByDefinition(print, quotes)]));
  const multiLegs = prints.filter((print) => isOneOf(print, multiLegIds));
  const ordinary = prints.filter((print) => print.conditions.length === 0 || isOneOf(print, sweepIds));
  const events: { kind: string; prints: OptionPrint[] }[] = [];
  const alone = (kind: string, list: readonly OptionPrint[]) =>
    events.push(...list.map((print) => ({ kind, prints: [print] })));
  for (const group of groups(multiLegs, (p) => `${p.contract.underlying.symbol} ${p.exchange}`, 50_000, 50_000)) {
    if (several(group, (p) => p.contract)) events.push({ kind: 'multi_leg', prints: group });
    else alone('multi_leg', group);
  }
  for (const group of groups(ordinary, (p) => `${p.contract.id} ${side.get(p)}`, 100_000, 500_000)) {
    if (several(group, (p) => p.exchange)) events.push({ kind: 'sweep', prints: group });
    else alone('single_block', group);
  }
  alone(
    'single_block',
    prints.filter((print) => !multiLegs.includes(print) && !ordinary.includes(print)),
  );
  return events
    .map(({ kind, prints }) => ({
      kind,
      sequences: prints.map(({ sequence }) => sequence),
      sides: prints.map((print) => side.get(print)),
      premium: prints.reduce((sum, { price, size }) => sum + (price * size * 100) / 10_000, 0),
    }))
    .filter(({ kind, premium }) => premium >= (kind === 'sweep' ? 50_000 : 100_000));
}

test('the streaming detector finds the events of the definition, none missed and none invented', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(tapes, (records) => {
      const byFirst = (a: { sequences: number[] }, b: { sequences: number[] }) => a.sequences[0]! - b.sequences[0]!;
      const wanted = eventsByDefinition(records).sort(byFirst);
      for (const { kind } of wanted) kinds.add(kind);
      const found = runTape(records).events.map(({ eventKind, legs, premiumUsd }) => ({
        kind: eventKind,
        sequences: legs.map(({ sequence }) => sequence),
        sides: legs.map(({ side }) => side),
        premium: premiumUsd,
      }));
      expect(found.sort(byFirst)).toEqual(wanted);
    }),
    { numRuns: 400 },
  );
  expect([...kinds].sort()).toEqual(['multi_leg', 'single_block', 'sweep']);
});
