import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { ApiKeyInfo, ApiKeys } from '../../access/identity/api-keys.ts';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { type CommonOptions, instant, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface CreateOptions extends CommonOptions {
  account: string;
  name?: string;
  expires?: number;
  trustedOnly?: boolean;
}

interface ListOptions extends CommonOptions {
  account?: string;
}

function jsonOf({ accountId, createdAt, lastUsedAt, expiresAt, trustedOnly, ...key }: ApiKeyInfo): object {
  const { id, name, tier, prefix, revoked } = key;
  return {
    id,
    account_id: accountId,
    name,
    tier,
    prefix,
    created_at: createdAt,
    last_used_at: lastUsedAt,
    expires_at: expiresAt,
    revoked,
    trusted_only: trustedOnly,
  };
}

function time(ms: number | null, otherwise: string): string {
  return ms === null ? otherwise : new Date(ms).toISOString();
}

function keyTable(keys: readonly ApiKeyInfo[], nowMs: number): string[] {
  const state = (key: ApiKeyInfo) =>
    key.revoked ? 'revoked' : key.expiresAt !== null && key.expiresAt <= nowMs ? 'expired' : 'live';
  const rows = keys.map((key) => [
    key.id,
    key.accountId,
    key.prefix,
    key.tier,
    state(key),
    time(key.expiresAt, 'never'),
    time(key.lastUsedAt, 'never'),
    key.trustedOnly ? 'trusted' : 'any',
    key.name,
  ]);
  return table(['ID', 'ACCOUNT', 'PREFIX', 'TIER', 'STATE', 'EXPIRES', 'LAST USED', 'DOCUMENTS', 'NAME'], rows);
}

async function withKeys<T>(
  terminal: Terminal,
  options: CommonOptions,
  work: (keys: ApiKeys) => Promise<T>,
): Promise<T> {
  return withStore(terminal, options, async (store) => {
    const [{ openApiKeys }, { openCredentialCache }] = await Promise.all([
      import('../../access/identity/api-keys.ts'),
      import('../../access/identity/credential-cache.ts'),
    ]);
    const cache = openCredentialCache(store, () => performance.now());
    return work(openApiKeys(store, cache, terminal.now, randomBytes));
  });
}

async function createKey(terminal: Terminal, options: CreateOptions): Promise<CommandResult> {
  const { account, name = null, expires = null, trustedOnly = false } = options;
  const request = { accountId: account, name, expiresAt: expires, trustedOnly };
  const { key, meta } = await withKeys(terminal, options, (keys) => keys.create(request));
  return {
    json: { key, id: meta.id },
    lines: [key, '', `Id ${meta.id}, tier ${meta.tier}. The key is not stored and cannot be shown again.`],
  };
}

async function listKeys(terminal: Terminal, options: ListOptions): Promise<CommandResult> {
  const keys = await withKeys(terminal, options, (keys) => keys.list(options.account ?? null));
  return { json: { keys: keys.map(jsonOf) }, lines: keys.length === 0 ? ['No keys.'] : keyTable(keys, terminal.now()) };
}

async function revokeKey(terminal: Terminal, id: string, options: CommonOptions): Promise<CommandResult> {
  await withKeys(terminal, options, (keys) => keys.revoke(id, null));
  return { json: { revoked: id }, lines: [`${id} is revoked; running servers reject it within 5 seconds.`] };
}

function addCreate(key: Command, terminal: Terminal): void {
  const command = withCommonOptions(key.command('create'))
    .summary('create a key and print it once')
    .description('Creates an API key and prints it. Only its hash is stored, so it cannot be shown again.')
    .requiredOption('--account <id>', 'account of the key; see account set')
    .option('--name <name>', 'name of the key')
    .option(
      '--expires <time>',
      'expiry: a date or ISO time (New York unless it has an offset); default: never',
      instant,
    )
    .option('--trusted-only', 'at /graphql it runs only trusted documents, those of --routes');
  withExamples(command, [
    ['key create --account acme --name dashboard', 'a key that does not expire'],
    ['key create --account acme --name website --trusted-only', 'a key for a page, which anybody can read'],
    ['key create --account acme --expires 2027-06-30 --json', 'for scripts: {"key": …, "id": …}'],
  ]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => createKey(terminal, command.opts<CreateOptions>()),
    ),
  );
}

function addList(key: Command, terminal: Terminal): void {
  const command = withCommonOptions(key.command('list'))
    .summary('list the keys')
    .description('Lists the API keys, oldest first, without their secrets.')
    .option('--account <id>', 'only keys of this account');
  withExamples(command, [['key list --account acme', 'the keys of acme']]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      () => listKeys(terminal, command.opts<ListOptions>()),
    ),
  );
}

function addRevoke(key: Command, terminal: Terminal): void {
  const command = withCommonOptions(key.command('revoke'))
    .summary('revoke a key')
    .description('Revokes a key permanently. Running servers reject it within 5 seconds.')
    .argument('<id>', 'key id, from key list');
  withExamples(command, [['key revoke 01KAFK3M7N8P9Q0RST1VWXYZ23', 'revoke this key']]);
  command.action(
    printing(
      terminal,
      () => command.opts(),
      (id: string) => revokeKey(terminal, id, command.opts<CommonOptions>()),
    ),
  );
}

/** `tapegraph key`: API keys. */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').summary('API keys: create, list, revoke');
  addCreate(key, terminal);
  addList(key, terminal);
  addRevoke(key, terminal);
}
