import { type Command, InvalidArgumentError } from 'commander';
import type { SealReport } from '../../ingest/seal.ts';
import { wholeSession } from '../../store/market/session-seals.ts';
import { type Outcome, printing, table } from '../io/command-result.ts';
import { type CommonOptions, date, ticker, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface SealCommandOptions extends CommonOptions {
  session?: string;
  symbols?: string[];
  undo?: boolean;
  list?: boolean;
}

function tickers(text: string): string[] {
  const symbols = text.split(',').map((part) => ticker(part.trim()));
  if (new Set(symbols).size < symbols.length) throw new InvalidArgumentError('A ticker is there twice.');
  return symbols;
}

function outcomeOf({ session, symbols, status, reason, stored }: SealReport): Outcome {
  const of = symbols === null ? '' : ` for ${symbols.join(', ')}`;
  const { optionTapes, stockTapes, chains } = stored;
  const counts = `${stored.symbols} symbols; ${optionTapes} option tapes, ${stockTapes} stock tapes, chains of ${chains}`;
  const line = {
    sealed: `sealed     ${session}${of}  ${counts}`,
    unchanged: `unchanged  ${session}${of}  was sealed before`,
    undone: `undone     ${session}${of}`,
    refused: `refused    ${session}${of}  ${reason}`,
  }[status];
  return {
    json: {
      session,
      symbols,
      status,
      reason,
      stored: { symbols: stored.symbols, option_tapes: optionTapes, stock_tapes: stockTapes, chains },
    },
    lines: [line],
    failed: status === 'refused',
  };
}

async function list(terminal: Terminal, options: CommonOptions): Promise<Outcome> {
  const { listSeals } = await import('../../store/market/session-seals.ts');
  const seals = await withStore(terminal, options, listSeals);
  const rows = seals.map(({ session, symbol, sealedAtMs }) => [
    session,
    symbol === wholeSession ? 'all' : symbol,
    new Date(sealedAtMs).toISOString(),
  ]);
  return {
    json: {
      seals: seals.map(({ session, symbol, sealedAtMs }) => ({
        session,
        symbol: symbol === wholeSession ? null : symbol,
        sealed_at: sealedAtMs,
      })),
    },
    lines: rows.length === 0 ? ['Nothing is sealed.'] : table(['SESSION', 'SYMBOL', 'SEALED'], rows),
  };
}

async function seal(terminal: Terminal, options: SealCommandOptions): Promise<Outcome> {
  if (options.list) return list(terminal, options);
  const { sealSession, unsealSession } = await import('../../ingest/seal.ts');
  const request = { session: options.session!, symbols: options.symbols ?? null };
  const work = options.undo ? unsealSession : sealSession;
  const settings = { now: terminal.now, signal: terminal.interrupted };
  return outcomeOf(await withStore(terminal, options, (store) => work(store, request, settings)));
}

/** `tapegraph seal`: sessions of which nothing is to be written any more. */
export function addSealCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('seal'))
    .summary('make a reconciled session final')
    .description(
      'Makes a session final, of some symbols or of all: nothing of its option tape, stock tape, bars and chains is written any more. ' +
        'ingest and reconcile refuse what would, follow and capture pass over it. Its option tapes have to be reconciled. Waits for commands that are writing.',
    )
    .option('--session <date>', 'the session', date)
    .option(
      '--symbols <list>',
      'of these tickers alone, separated by commas (default: all, also those that nothing is stored of)',
      tickers,
    )
    .option('--undo', 'take the seal away')
    .option('--list', 'list what is sealed');
  withExamples(command, [
    ['seal --session 2026-11-20', 'the session is final'],
    ['seal --session 2026-11-20 --symbols SPY,QQQ', 'of two symbols'],
    ['seal --session 2026-11-20 --undo', 'it may be read again'],
    ['seal --list', 'what is sealed?'],
  ]);
  // What only makes sense together cannot be said option by option.
  command.hook('preAction', () => {
    const { session, symbols, undo, list: listing } = command.opts<SealCommandOptions>();
    if (listing && (session || symbols || undo)) command.error('error: --list stands alone');
    if (!listing && !session) command.error("error: required option '--session <date>' not specified");
  });
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => seal(terminal, command.opts<SealCommandOptions>()),
    ),
  );
}
