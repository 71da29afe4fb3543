import type { Command } from 'commander';
import type { Accounts } from '../../access/identity/accounts.ts';
import type { Account } from '../../core/domain/account.ts';
import { type Classification, classifications, type Tier, tiers } from '../../platform/config/tiers.ts';
import { type CommandResult, printing, table } from '../io/command-result.ts';
import { type CommonOptions, choice, withCommonOptions, withExamples } from '../io/options.ts';
import { withStore } from '../io/store.ts';
import type { Terminal } from '../io/terminal.ts';

interface SetOptions extends CommonOptions {
  siteTier?: Tier;
  apiTier?: Tier;
  classification?: Classification | 'none';
}

function jsonOf({ id, siteTier, apiTier, classification, classifiedAt, createdAt }: Account): object {
  return {
    id,
    site_tier: siteTier,
    api_tier: apiTier,
    classification,
    classified_at: classifiedAt,
    created_at: createdAt,
  };
}

function accountTable(accounts: readonly Account[]): string[] {
  const rows = accounts.map(({ id, siteTier, apiTier, classification }) => [
    id,
    siteTier,
    apiTier,
    classification ?? '(none)',
  ]);
  return table(['ACCOUNT', 'SITE TIER', 'API TIER', 'CLASSIFICATION'], rows);
}

async function withAccounts<T>(
  terminal: Terminal,
  options: CommonOptions,
  work: (accounts: Accounts) => Promise<T>,
): Promise<T> {
  return withStore(terminal, options, async (store) => {
    const [{ openAccounts }, { openCredentialCache }] = await Promise.all([
      import('../../access/identity/accounts.ts'),
      import('../../access/identity/credential-cache.ts'),
    ]);
    const cache = openCredentialCache(store, () => performance.now());
    return work(openAccounts(store, cache, terminal.now));
  });
}

async function setAccount(terminal: Terminal, id: string, options: SetOptions): Promise<CommandResult> {
  const { siteTier, apiTier, classification } = options;
  const change = { siteTier, apiTier, classification: classification === 'none' ? null : classification };
  const account = await withAccounts(terminal, options, (accounts) => accounts.set(id, change));
  return { json: jsonOf(account), lines: accountTable([account]) };
}

async function listAccounts(terminal: Terminal, options: CommonOptions): Promise<CommandResult> {
  const accounts = await withAccounts(terminal, options, (accounts) => accounts.list());
  return {
    json: { accounts: accounts.map(jsonOf) },
    lines: accounts.length === 0 ? ['No accounts.'] : accountTable(accounts),
  };
}

/** `tapegraph account`: tiers and market-data classification. */
export function addAccountCommands(program: Command, terminal: Terminal): void {
  const account = program.command('account').summary('accounts: tiers and market-data classification');
  const set = withCommonOptions(account.command('set'))
    .summary('create or update an account')
    .description(
      'Creates an account, or updates the given fields of an existing one. A new account has the free tiers and no classification.',
    )
    .argument('<id>', 'account id: the `sub` of its site sessions')
    .addOption(choice('--site-tier <tier>', 'tier of its site sessions', tiers))
    .addOption(choice('--api-tier <tier>', 'tier of its API keys', tiers))
    .addOption(
      choice('--classification <kind>', 'market-data classification; non_professional means attested', [
        ...classifications,
        'none',
      ]),
    );
  withExamples(set, [
    [
      'account set acme --api-tier pro --classification non_professional',
      'an account whose API keys can read everything',
    ],
    ['account set acme --site-tier basic', 'change one field'],
  ]);
  set.action(
    printing(
      terminal,
      () => set.opts(),
      (id: string) => setAccount(terminal, id, set.opts<SetOptions>()),
    ),
  );

  const list = withCommonOptions(account.command('list'))
    .summary('list the accounts')
    .description('Lists the accounts by id.');
  withExamples(list, [['account list', 'all accounts']]);
  list.action(
    printing(
      terminal,
      () => list.opts(),
      () => listAccounts(terminal, list.opts<CommonOptions>()),
    ),
  );
}
