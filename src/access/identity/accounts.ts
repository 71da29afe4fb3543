import { type Account, isId, maxIdLength } from '../../core/domain/account.ts';
import type { Classification } from '../../platform/config/tiers.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { invalidParameter, notFound } from '../../platform/wire/failure.ts';
import {
  type AccountChange,
  declareClassification,
  findAccount,
  listAccounts,
  setAccount,
} from '../../store/account/accounts.ts';
import type { Store } from '../../store/rows/connection.ts';
import type { CredentialCache } from './credential-cache.ts';

/** An account's declaration (contract-notes 3). */
export interface Declaration {
  /** True if it declared `non_professional`. */
  attested: boolean;
  /** Null = nothing declared yet. */
  classification: Classification | null;
  /** Epoch ms; null = nothing declared yet. */
  submittedAt: number | null;
  /** True if it declared `professional`, which is final. */
  locked: boolean;
}

/** Accounts and their declarations. Changes apply immediately in this process and within 5 s in others. */
export interface Accounts {
  /** Creates or changes an account as the operator: `professional` is not final for the operator. */
  set(id: string, change: AccountChange): Promise<Account>;
  list(): Promise<Account[]>;
  /** The declaration of an account. Throws 404 for an unknown one. */
  declaration(accountId: string): Promise<Declaration>;
  /**
   * Stores a declaration. After `professional` nothing changes any more, as the answer shows. Throws 404 for an unknown
   * account.
   */
  declare(accountId: string, classification: Classification): Promise<Declaration>;
}

function declarationOf(account: Account | null): Declaration {
  if (account === null) throw notFound('The account');
  const { classification, classifiedAt } = account;
  return {
    attested: classification === 'non_professional',
    classification,
    submittedAt: classifiedAt,
    locked: classification === 'professional',
  };
}

/** Opens the accounts of a store. */
export function openAccounts(store: Store, credentialCache: CredentialCache, now: Clock): Accounts {
  return {
    async set(id, change) {
      if (!isId(id)) {
        throw invalidParameter('id', `expected 1 to ${maxIdLength} characters without control characters`);
      }
      const account = await setAccount(store, id, change, now());
      credentialCache.accounts.drop(id);
      return account;
    },
    list: () => listAccounts(store),
    declaration: async (accountId) => declarationOf(await findAccount(store, accountId)),
    async declare(accountId, classification) {
      const account = await declareClassification(store, accountId, classification, now());
      credentialCache.accounts.drop(accountId);
      return declarationOf(account);
    },
  };
}
