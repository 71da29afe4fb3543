import type { Command } from 'commander';
import type { SealReport } from '../../intake/ingest/seal.ts';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { type CommonOptions, date, tickers, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface SealCommandOptions extends CommonOptions {
  session?: string;
  symbols?: string[];
  undo?: boolean;
  list?: boolean;
}

function resultOf({ session, symbols, status, reason, stored }: SealReport): CommandResult {
  const of = symbols === null ? '' : ` for ${symbols.join(', ')}`;
  const { optionTapes, stockTapes, chains } = stored;
  const counts = `${stored.symbols} symbols; ${optionTapes} option tapes, ${stockTapes} stock tapes, chains of ${chains}`;
  const line = {
    sealed: `sealed     ${session}${of}  ${counts}`,
    unchanged: `unchanged  ${session}${of}  already sealed`,
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

async function list(terminal: Terminal, options: CommonOptions): Promise<CommandResult> {
  const { listSeals, wholeSession } = await import('../../store/market/session-seals.ts');
  const { originsOf } = await import('../../store/market/session-origins.ts');
  const { seals, origins } = await withStore(terminal, options, async (store) => {
    const seals = await listSeals(store);
    const sessions = seals.map(({ session, symbol }) => ({ symbol, sessionDate: session }));
    return { seals, origins: await originsOf(store, sessions) };
  });
  const rows = seals.map(({ session, symbol, sealedAtMs }, i) => [
    session,
    symbol === wholeSession ? 'all' : symbol,
    symbol === wholeSession ? '' : origins[i]!,
    new Date(sealedAtMs).toISOString(),
  ]);
  return {
    json: {
      seals: seals.map(({ session, symbol, sealedAtMs }, i) => ({
        session,
        symbol: symbol === wholeSession ? null : symbol,
        origin: symbol === wholeSession ? null : origins[i]!,
        sealed_at: sealedAtMs,
      })),
    },
    lines: rows.length === 0 ? ['Nothing is sealed.'] : table(['SESSION', 'SYMBOL', 'ORIGIN', 'SEALED'], rows),
  };
}

async function seal(terminal: Terminal, options: SealCommandOptions): Promise<CommandResult> {
  if (options.list) return list(terminal, options);
  const { sealSession, unsealSession } = await import('../../intake/ingest/seal.ts');
  const request = { session: options.session!, symbols: options.symbols ?? null };
  const work = options.undo ? unsealSession : sealSession;
  const settings = { now: terminal.now, signal: terminal.interrupted };
  return resultOf(await withStore(terminal, options, (store) => work(store, request, settings)));
}

/** `tapegraph seal`: makes sessions final. */
export function addSealCommand(program: Command, terminal: Terminal): void {
  const command = withCommonOptions(program.command('seal'))
    .summary('make a reconciled session final')
    .description(
      'Makes a session final, for some symbols or for all: its option tape, stock tape, bars and chains can no longer be changed. ' +
        'ingest and reconcile reject changes; follow and capture skip them. Its option tapes must be reconciled first. Waits for commands that are writing.',
    )
    .option('--session <date>', 'the session', date)
    .option(
      '--symbols <list>',
      'only these tickers, separated by commas (default: all, including those without stored data)',
      tickers,
    )
    .option('--undo', 'remove the seal')
    .option('--list', 'list the seals');
  withExamples(command, [
    ['seal --session 2026-11-20', 'seal all symbols of a session'],
    ['seal --session 2026-11-20 --symbols SPY,QQQ', 'seal two symbols'],
    ['seal --session 2026-11-20 --undo', 'unseal it, to ingest it again'],
    ['seal --list', 'list all seals'],
  ]);
  // Options that depend on each other cannot be checked one by one.
  command.hook('preAction', () => {
    const { session, symbols, undo, list: listing } = command.opts<SealCommandOptions>();
    if (listing && (session || symbols || undo)) command.error('error: --list cannot be combined with other options');
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
