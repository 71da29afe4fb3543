import type { GraphQLError } from 'graphql';
import type { Caller } from '../../access/caller.ts';
import type { RightsRegistry } from '../../access/endpoint-services.ts';
import {
  requireAttestation,
  requireFlow,
  requireOffExchange,
  requireReadable,
  requireSiteSession,
} from '../../access/entitlement/entitlement.ts';
import { knownFailure } from '../../platform/wire/failure.ts';
import type { Needs } from '../../schema/needs.ts';
import { publicError } from '../errors.ts';
import type { FieldEstimate } from '../limits/field-estimates.ts';
import type { Subject } from '../limits/reads.ts';
import { requestErrorOf, requestErrorWithin } from '../request-error.ts';

/** An error that an operation would have. */
export interface ExpectedError {
  /** The field that would be null; null = the whole operation is rejected. */
  path: string | null;
  code: string;
  status: number;
  message: string;
  details?: unknown;
}

/** An error of a whole operation as it would be sent; anything unexpected is thrown. */
export function expectedError(error: unknown, path: string | null = null): ExpectedError {
  const failure = knownFailure(error);
  const asked = failure ? requestErrorOf(failure) : error;
  const sent: GraphQLError =
    requestErrorWithin(asked) ??
    publicError(
      asked,
      (failure) => {
        throw failure;
      },
      false,
    );
  const { code, details, http } = sent.extensions as { code: string; details?: unknown; http: { status: number } };
  return { path, code, status: http.status, message: sent.message, ...(details !== undefined && { details }) };
}

const checks: Record<Needs, (caller: Caller, path: string) => void> = {
  any: () => {},
  symbol: () => {},
  flow: requireFlow,
  'off-exchange': requireOffExchange,
  'site-session': (caller, path) => requireSiteSession(caller, path),
  'declared-site-session': (caller, path) => {
    requireSiteSession(caller, path);
    requireAttestation(caller, path);
  },
};

const ofSymbol: ReadonlySet<Needs> = new Set(['symbol', 'flow', 'off-exchange']);

function symbolOf(registry: RightsRegistry, subject: Subject): string {
  return 'symbol' in subject ? subject.symbol : registry.roots.of(subject.contract.root).underlying;
}

/** The error of a field that the caller may not read, as far as the document names its symbols; null = none. */
function refusedField({ reads, path }: FieldEstimate, caller: Caller, registry: RightsRegistry): ExpectedError | null {
  try {
    for (const { needs, subject } of reads) {
      checks[needs](caller, path);
      if (subject && ofSymbol.has(needs)) requireReadable(caller, registry.get(symbolOf(registry, subject)) ?? null);
    }
    return null;
  } catch (error) {
    return expectedError(error, path);
  }
}

/** The errors of fields that the caller may not read. */
export function entitlementErrors(
  fields: readonly FieldEstimate[],
  caller: Caller,
  registry: RightsRegistry,
): ExpectedError[] {
  return fields.flatMap((field) => refusedField(field, caller, registry) ?? []);
}

/** Fields about which the rights to a symbol decide that is known only when they run. */
export function undecidedFields(fields: readonly FieldEstimate[]): string[] {
  const isUndecided = ({ reads }: FieldEstimate) =>
    reads.some(({ needs, subject }) => subject === null && ofSymbol.has(needs));
  return fields.filter(isUndecided).map(({ path }) => path);
}
