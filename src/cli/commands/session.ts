import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { type CommandResult, printing } from '../io/command-result.ts';
import { type CommonOptions, clockFrom, duration, instant, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface CreateOptions extends CommonOptions {
  account: string;
  expiresIn: number;
  clock?: number;
}

async function createSession(terminal: Terminal, options: CreateOptions): Promise<CommandResult> {
  const { account, expiresIn, clock } = options;
  const now = clock === undefined ? terminal.now : clockFrom(clock, terminal.now);
  const log = (line: string) => void terminal.stderr.write(`${line}\n`);
  const token = await withStore(terminal, options, async (store, config) => {
    const { openSessionTokens } = await import('../../access/identity/site-session.ts');
    const sessions = await openSessionTokens(store, config, now, randomBytes, log);
    return sessions.create(account, expiresIn);
  });
  return { json: { token }, lines: [token] };
}

/** `tapegraph session`: site sessions, if this server signs them. */
export function addSessionCommands(program: Command, terminal: Terminal): void {
  const session = program.command('session').summary('site sessions: create');
  const create = withCommonOptions(session.command('create'))
    .summary('print a site-session token')
    .description(
      'Prints a token that signs an account in. Not available with SESSION_JWKS_URL, where the identity provider signs tokens.',
    )
    .requiredOption('--account <id>', 'account of the session; see account set')
    .addOption(
      new Option('--expires-in <time>', 'lifetime, such as 90s, 30m or 7d')
        .argParser(duration)
        .default(3_600_000, '1h'),
    )
    .option('--clock <time>', 'current time of a server started with --clock', instant);
  withExamples(create, [
    ['session create --account acme', 'valid for an hour'],
    ['session create --account acme --expires-in 7d --json', 'for scripts: {"token": …}'],
  ]);
  create.action(
    printing(
      terminal,
      () => create.opts(),
      () => createSession(terminal, create.opts<CreateOptions>()),
    ),
  );
}
