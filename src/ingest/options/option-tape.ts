import { createHash } from 'node:crypto';
import { methodologyVersion } from '../../analytics/methodology.ts';
import type { OptionTapeCounts } from '../../analytics/session/option-tape.ts';
import { optionsAreOver } from '../../domain/calendar.ts';
import { instantBounds } from '../../domain/instant-gate.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { readBytes } from '../../tape/csv/tape-file.ts';
import type { IngestSettings, Loader } from '../files/file-job.ts';
import { lockOptionSessions, type OptionSessionWriter, optionSessionWriter } from './option-session-writer.ts';
import { readOptionTape } from './option-tape-files.ts';
import { quotesOfTape } from './quote-source.ts';
import { sessionPlan } from './session-plan.ts';

/** What is worth saying of a session's tape. */
export function tapeNotes(date: SessionDate, counts: OptionTapeCounts, nowMs: number): string[] {
  const notes: [keyof OptionTapeCounts, string][] = [
    ['duplicates', 'duplicate prints count once'],
    ['cancels', 'cancels'],
    ['unmatchedCancels', 'cancels of prints that are not on the tape'],
    ['leftOut', 'compression trades and withdrawn records skipped'],
  ];
  const over = optionsAreOver(date, nowMs) ? [] : [`${date} is not over: its data is stored as not reconciled`];
  return [
    ...over,
    ...notes.filter(([name]) => counts[name] > 0).map(([name, what]) => `${date}: ${counts[name]} ${what}`),
  ];
}

/** Says which stored quotes gave a tape its sides; nothing where files gave them, or nothing did. */
export function quoteNotes(quoteFiles: readonly string[], { quotes }: { readonly quotes: number }): string[] {
  return quoteFiles.length === 0 && quotes > 0 ? [`sides from ${quotes} stored quotes of its contracts`] : [];
}

/**
 * An option tape: it is taken to hold all prints, in its sessions, of every underlying in it. Large trades,
 * cross-sections, bars and end-of-day lists take the place of what was stored of them. Without quotes, given or stored,
 * all sides are unknown.
 */
export const loadOptionTrades: Loader = async ({ path, tx, settings, now, onBadLine, onBytes, onNote, refused }) => {
  let badLines = 0;
  const { quoteFiles, threads, rate, solveMost } = settings;
  const counting: typeof onBadLine = (bad) => {
    badLines++;
    onBadLine(bad);
  };
  const quotes = quotesOfTape(tx, quoteFiles);
  const bounds = instantBounds(now());
  const reading = { trades: [path], quotes, threads, bounds, onBadLine: counting, onBytes, refused };
  const files = await readOptionTape(reading);
  const rows = files.prints;
  const sessions: SessionDate[] = [];
  let changed = 0;
  let writer: OptionSessionWriter | null = null;
  try {
    if (refused()) return { rows, changed };
    await lockOptionSessions(tx);
    const nowMs = now();
    const tapeInfo = { withoutGaps: () => badLines === 0, nowMs, source: 'option_trades_file' };
    const plan = await sessionPlan(tx, files, { nowMs, solving: { rate, most: solveMost } });
    const finishDate = async () => {
      if (!writer) return;
      const totals = await writer.done();
      changed += totals.changed;
      for (const note of tapeNotes(writer.date, totals.counts, now())) onNote(note);
    };
    for await (const session of files.make(plan)) {
      if (writer?.date !== session.date) {
        await finishDate();
        sessions.push(session.date);
        writer = optionSessionWriter(tx, session.date, tapeInfo);
      }
      await writer.add(session);
    }
    await finishDate();
    for (const note of quoteNotes(quoteFiles, files)) onNote(note);
    return { rows, changed, parts: sessions };
  } finally {
    await (writer as OptionSessionWriter | null)?.settle();
    await files.close();
  }
};

/** What shapes the figures of an option tape beside its bytes: the quotes beside it, and how contracts are solved. */
export async function optionTapeShape({
  quoteFiles,
  rate,
  solveMost,
}: Pick<IngestSettings, 'quoteFiles' | 'rate' | 'solveMost'>): Promise<string> {
  const hash = createHash('sha256');
  for (const path of quoteFiles) for await (const bytes of readBytes(path)) hash.update(bytes);
  return `${methodologyVersion} ${hash.digest('base64url')} ${rate} ${solveMost}`;
}
