import { flowCapability, offExchangeCapability } from '../../access/entitlement/entitlement.ts';
import type { Declaration } from '../../access/identity/accounts.ts';
import type { ApiKeyInfo, CreatedKey } from '../../access/identity/api-keys.ts';
import type { Classification } from '../../platform/config/tier.ts';
import { fromStore, type RequestContext } from '../context.ts';
import { type ResponseMeta, responseMeta } from '../response-meta.ts';

export type { ApiKeyInfo, CreatedKey, Declaration };

/**
 * `meta` of account answers: `caps.flow` is reported, true or false (spec 2.1). `caps.darkpool` is not: no account
 * route of the contract reports it. The graph has both as fields of `me`.
 */
export function accountMeta(context: RequestContext): ResponseMeta {
  const meta = responseMeta(context, 'registry');
  return { ...meta, caps: { ...meta.caps, flow: flowCapability(context.caller) } };
}

/** True if the caller may use option flow in the site: site Pro and declared non-professional. */
export function flowGranted({ caller }: RequestContext): boolean {
  return flowCapability(caller);
}

/** True if the caller may use off-exchange data in the site: site Basic and declared non-professional. */
export function offExchangeGranted({ caller }: RequestContext): boolean {
  return offExchangeCapability(caller);
}

/** The declaration of the caller's account. */
export function declaration({ access, caller }: RequestContext): Promise<Declaration> {
  return fromStore('account', () => access.accounts.declaration(caller.accountId));
}

/** Declares the caller's account; the rest of the request is served under the new declaration. */
export async function classify(context: RequestContext, classification: Classification): Promise<Declaration> {
  const { access, caller } = context;
  const declared = await fromStore('account', () => access.accounts.declare(caller.accountId, classification));
  context.caller = { ...caller, classification: declared.classification, attested: declared.attested };
  access.tickets.succeed(caller, context.caller);
  return declared;
}

/**
 * The API keys of the caller's account, oldest first, including revoked ones; 403 for a caller that is a key itself.
 */
export function apiKeys({ access, caller }: RequestContext): Promise<ApiKeyInfo[]> {
  return fromStore('account', () => access.keys.listFor(caller));
}

/** Creates an API key for the caller's account; 403 for a key, and without the declaration. */
export function createKey({ access, caller }: RequestContext, name: string | null): Promise<CreatedKey> {
  return fromStore('account', () => access.keys.createFor(caller, name));
}

/** Revokes an API key of the caller's account and returns its id; 403 for a key, 404 for an unknown or revoked one. */
export async function revokeKey({ access, caller }: RequestContext, id: string): Promise<string> {
  await fromStore('account', () => access.keys.revokeFor(caller, id));
  return id;
}
