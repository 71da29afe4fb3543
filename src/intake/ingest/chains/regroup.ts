import { methodologyVersion } from '../../../core/analytics/methodology.ts';
import type { ChainCapture } from '../../../core/domain/chain/chain.ts';
import { capturePart, type IngestedSource, type LiveLines } from '../../../core/domain/generation.ts';
import type { SessionDate } from '../../../core/domain/market-time.ts';
import { type CaptureOutline, sessionCaptures } from '../../../store/chain/capture-outlines.ts';
import { chainCaptureOf, removeChainCapture } from '../../../store/chain/chain-captures.ts';
import { computationOf } from '../../../store/chain/session-captures.ts';
import { removeGexCapture } from '../../../store/gex/captures.ts';
import { generationsInForce } from '../../../store/market/generations.ts';
import { sealedSessions } from '../../../store/market/session-seals.ts';
import type { Transaction } from '../../../store/rows/transaction.ts';
import type { RemadePart } from '../files/file-job.ts';
import { withInterest } from './joined-interest.ts';
import { type Placement, type SessionReferences, sessionReferences } from './reference-capture.ts';
import { delayed, type Group, type Regrouping, type SessionGroups, type SessionSettings } from './session-groups.ts';
import { type ChainSettings, gapsOf, settingsOf, type WrittenChain, writeChain } from './write-chain.ts';

/** A capture as it was written, and its place. */
export interface PlacedChain extends WrittenChain {
  placement: Placement;
}

/** A capture that is about to be written. */
interface ComingCapture {
  chain: ChainCapture;
  settings: ChainSettings;
}

/** Settings of writing the captures of a session. */
export interface RegroupSettings extends SessionSettings {
  /** Those of a file that comes. */
  given: ChainSettings;
  /** True to solve all captures of the session again; false: those that depend on changed ones. */
  all: boolean;
  /** Called before each capture; throws to stop. */
  check?(): void;
}

/** Captures of a session that change. */
interface SessionChange {
  captures: ReadonlyMap<number, ComingCapture>;
  gone: ReadonlySet<number>;
}

/** The settings that a capture of the store was computed with. */
async function storedSettings(tx: Transaction, chain: ChainCapture, rate: number): Promise<ChainSettings> {
  return settingsOf(chain, await computationOf(tx, chain.underlying, chain.capturedAt), rate);
}

/** The captures that groups make, before they are solved. */
async function comingCaptures(
  tx: Transaction,
  groups: SessionGroups,
  changed: readonly Group[],
  { given, rate }: RegroupSettings,
): Promise<Map<number, ComingCapture>> {
  const captures = new Map<number, ComingCapture>();
  for (const group of changed) {
    const chain = await withInterest(tx, await groups.captureOf(group));
    const stored = group.files.every(({ of }) => of !== null) ? group.files[0]!.of!.capturedAt : null;
    const before = stored === null ? null : (await chainCaptureOf(tx, groups.underlying, stored))!;
    captures.set(group.capturedAt, { chain, settings: before ? await storedSettings(tx, before, rate) : given });
  }
  return captures;
}

/** Writes a stored capture again, at a place. */
async function rewrite(
  tx: Transaction,
  { underlying, capturedAt }: { underlying: string; capturedAt: number },
  { subset, alone }: Placement,
  { rate, delayMs, source, all }: RegroupSettings,
): Promise<WrittenChain> {
  const stored = (await chainCaptureOf(tx, underlying, capturedAt))!;
  const settings = await storedSettings(tx, stored, rate);
  const chain = delayed(settings.gammaSource === 'solve' ? source(stored) : stored, delayMs);
  return writeChain(tx, { ...(all ? await withInterest(tx, chain) : chain), subset, alone }, settings);
}

/** True if another version of the methodology computed a stored capture. */
async function isOld(tx: Transaction, underlying: string, capturedAt: number): Promise<boolean> {
  const computed = await computationOf(tx, underlying, capturedAt);
  return computed.methodologyVersion !== null && computed.methodologyVersion !== methodologyVersion;
}

/** True if the own quotes of a stored capture solve all its contracts. */
async function isSolvedAlone(tx: Transaction, underlying: string, capturedAt: number): Promise<boolean> {
  return gapsOf((await chainCaptureOf(tx, underlying, capturedAt))!).length === 0;
}

/**
 * Writes the captures of a session that change, and those that depend on them, ascending: one that was compared with
 * another, or uses what was solved before it. Stops at the first whole capture that is unchanged. Captures of an older
 * version are left to `recompute` unless their place changes.
 */
async function writeSession(
  tx: Transaction,
  { underlying, sessionDate }: { underlying: string; sessionDate: SessionDate },
  stored: ReadonlyMap<number, CaptureOutline>,
  { captures, gone }: SessionChange,
  { references, settings }: { references: SessionReferences; settings: RegroupSettings },
): Promise<Map<number, PlacedChain>> {
  const { all } = settings;
  const written = new Map<number, PlacedChain>();
  const isMoved = references.isMoved(sessionDate);
  let isDirty = all;
  for (const capturedAt of [...new Set([...stored.keys(), ...captures.keys()])].sort((a, b) => a - b)) {
    const coming = captures.get(capturedAt);
    settings.check?.();
    if (gone.has(capturedAt)) isDirty = true;
    else if (coming) {
      const placement = await references.place(coming.chain);
      const { subset, alone } = placement;
      const result = await writeChain(tx, { ...coming.chain, subset, alone }, coming.settings);
      written.set(capturedAt, { ...result, placement });
      isDirty ||= result.changed > 0;
    } else {
      const { subset, alone, listing, delayMs } = stored.get(capturedAt)!;
      const at = { capturedAt, sessionDate, delayMs: settings.delayMs ?? delayMs };
      const placement = isMoved ? await references.place(at, listing) : { subset, alone, of: null };
      const isPlaced = placement.subset !== subset || placement.alone !== alone;
      if (!isPlaced && !isDirty) continue;
      if (!isPlaced && !all && (await isOld(tx, underlying, capturedAt))) continue;
      // It keeps the inputs that it was priced with unless it uses what was solved before it.
      if (!isPlaced && !all && (await isSolvedAlone(tx, underlying, capturedAt))) {
        isDirty = subset;
        continue;
      }
      const result = await rewrite(tx, { underlying, capturedAt }, placement, settings);
      written.set(capturedAt, { ...result, placement });
      isDirty = all || result.changed > 0 || (isDirty && placement.subset);
    }
  }
  return written;
}

/** Places the captures of the next sessions again that are compared with those of one. Sealed sessions stay. */
async function placeLater(
  tx: Transaction,
  underlying: string,
  references: SessionReferences,
  settings: RegroupSettings,
): Promise<void> {
  const later = references.sessions.slice(1).filter((session) => references.isMoved(session));
  if (later.length === 0) return;
  const span = { symbol: underlying, from: later[0]!, to: later.at(-1)! };
  const sealed = new Set((await sealedSessions(tx, [span])).map(({ sessionDate }) => sessionDate));
  const change: SessionChange = { captures: new Map(), gone: new Set() };
  const own = { ...settings, all: false, delayMs: null };
  for (const sessionDate of later) {
    if (sealed.has(sessionDate)) continue;
    const stored = await sessionCaptures(tx, underlying, sessionDate);
    const outlines = new Map(stored.map((outline) => [outline.capturedAt, outline]));
    await writeSession(tx, { underlying, sessionDate }, outlines, change, { references, settings: own });
  }
}

/** Finds the files and lines that make the capture of a group. */
async function remadePart(tx: Transaction, groups: SessionGroups, { capturedAt, files }: Group): Promise<RemadePart> {
  const { underlying, sessionDate } = groups;
  const known = new Map<string | null, IngestedSource>();
  const live: LiveLines[] = [];
  for (const instant of new Set(files.flatMap(({ of }) => of?.capturedAt ?? []))) {
    const before = capturePart({ underlying, sessionDate, capturedAt: instant });
    for (const generation of await generationsInForce(tx, ['chain'], before)) {
      for (const file of generation.files) known.set(file.sha256, file);
      if (generation.live !== null) live.push(generation.live);
    }
  }
  const stored = files.flatMap(({ hash, name, of }) =>
    of === null || name === null ? [] : [known.get(hash) ?? { name, sha256: hash, lines: null }],
  );
  const hasFile = files.some(({ of }) => of === null);
  return { part: capturePart({ underlying, sessionDate, capturedAt }), files: stored, live, hasFile };
}

/** Captures of a session that were written, by time, and what they were made of. */
export interface Regrouped {
  written: Map<number, PlacedChain>;
  remade: RemadePart[];
}

/**
 * Writes the captures of regrouped files, and the later ones that this changes. The transaction must hold the captures.
 */
export async function writeRegrouped(
  tx: Transaction,
  groups: SessionGroups,
  { changed, gone }: Pick<Regrouping, 'changed' | 'gone'>,
  settings: RegroupSettings,
): Promise<Regrouped> {
  const { underlying, sessionDate } = groups;
  const captures = await comingCaptures(tx, groups, changed, settings);
  const remade: RemadePart[] = [];
  for (const group of changed) remade.push(await remadePart(tx, groups, group));
  const { roots } = settings;
  const references = await sessionReferences(tx, { underlying, sessionDate, roots, listings: groups.listings });
  await references.change(
    Array.from(captures.values(), ({ chain }) => chain),
    gone,
  );
  for (const capturedAt of gone) {
    await removeChainCapture(tx, underlying, capturedAt);
    await removeGexCapture(tx, underlying, capturedAt);
  }
  const change = { captures, gone: new Set(gone) };
  const written = await writeSession(tx, groups, groups.stored, change, { references, settings });
  await placeLater(tx, underlying, references, settings);
  const isChanged = ({ part }: RemadePart) => written.get(part.instantMs)!.changed > 0;
  const ended = gone.map(
    (capturedAt): RemadePart => ({
      part: capturePart({ underlying, sessionDate, capturedAt }),
      files: [],
      live: [],
      hasFile: null,
    }),
  );
  return { written, remade: [...remade.filter(isChanged), ...ended] };
}
