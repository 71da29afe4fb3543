import { createHash } from 'node:crypto';
import { methodologyVersion } from '../../analytics/methodology.ts';
import type { OptionTapeCounts } from '../../analytics/session/option-tape.ts';
import { optionsAreOver } from '../../domain/calendar.ts';
import type { SessionDate } from '../../domain/market-time.ts';
import { readBytes } from '../../tape/csv/tape-file.ts';
import type { IngestSettings, Loader } from '../files/file-job.ts';
import type { OptionSession } from './option-session.ts';
import { type OptionSessionWriter, optionSessionWriter } from './option-session-writer.ts';
import { readOptionTape } from './option-tape-files.ts';
import { quotesOfTape } from './quote-source.ts';

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
  return quoteFiles.length === 0 && quotes > 0 ? [`sides from ${quotes} stored quotes of the contracts in it`] : [];
}

/**
 * An option tape: it is taken to hold all prints, in its sessions, of every underlying in it. Large trades,
 * cross-sections, bars and end-of-day lists take the place of what was stored of them. Without quotes, given or stored,
 * all sides are unknown.
 */
export const loadOptionTrades: Loader = async ({ path, tx, settings, now, onBadLine, onBytes, onNote, refused }) => {
  let badLines = 0;
  const { quoteFiles } = settings;
  const counting: typeof onBadLine = (bad) => {
    badLines++;
    onBadLine(bad);
  };
  // The bytes of quotes are not those of the file that is counted; asking is how a stop is noticed.
  const quotes = quotesOfTape(tx, { quoteFiles, onBadLine: counting, onBatch: () => onBytes(0) });
  const files = await readOptionTape({ trades: [path], quotes, onBadLine: counting, onBytes, refused });
  const rows = files.prints;
  const sessions: SessionDate[] = [];
  let changed = 0;
  let writer: OptionSessionWriter | null = null;
  try {
    if (refused()) return { rows, changed };
    // Without quotes a series would be made of trades alone: what was solved live, from quotes, is worth more.
    const solving = files.quotes > 0 ? { rate: settings.rate, most: settings.solveMost } : null;
    const tapeInfo = { withoutGaps: () => badLines === 0, nowMs: now(), source: 'option_trades_file', solving };
    let session: OptionSession;
    const finishDate = async () => {
      if (!writer) return;
      const totals = await writer.done();
      changed += totals.changed;
      for (const note of tapeNotes(writer.date, totals.counts, now())) onNote(note);
    };
    await files.feed(
      async (underlying, date) => {
        if (writer?.date !== date) {
          await finishDate();
          sessions.push(date);
          writer = await optionSessionWriter(tx, date, tapeInfo);
        }
        session = writer.open(underlying);
        return session.feed;
      },
      async () => {
        await session.end();
        await writer!.add(session);
      },
    );
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
