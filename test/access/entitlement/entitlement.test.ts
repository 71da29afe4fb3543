import { describe, expect, it } from 'vitest';
import {
  flowCapability,
  offExchangeCapability,
  requireAttestation,
  requireFlow,
  requireOffExchange,
  requireReadable,
  requireSiteSession,
  symbolAccess,
} from '../../../src/access/entitlement/entitlement.ts';
import { type Tier, tiers } from '../../../src/platform/config/tiers.ts';
import { Failure } from '../../../src/platform/wire/failure.ts';

const rank: Record<Tier, number> = { free: 0, basic: 1, pro: 2 };

/** Result of a check: `ok`, or the code and status of its failure. */
function outcome(check: () => void): string {
  try {
    check();
    return 'ok';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${error.status} ${error.code}`;
  }
}

const everyCaller = tiers.flatMap((tier) => [true, false].map((attested) => ({ tier, attested })));

describe('a symbol', () => {
  const cases = everyCaller.flatMap((caller) =>
    tiers.flatMap((minTier) =>
      [true, false].map((requiresAttestation) => ({ caller, entry: { symbol: 'SPX', minTier, requiresAttestation } })),
    ),
  );

  it.each(cases)('answers the rule for $caller and $entry', ({ caller, entry }) => {
    const lacksTier = rank[caller.tier] < rank[entry.minTier];
    const lacksAttestation = entry.requiresAttestation && !caller.attested;
    const expected = lacksTier ? 'not_entitled_tier' : lacksAttestation ? 'attestation_required' : null;
    expect(symbolAccess(caller, entry)).toEqual({
      allowed: expected === null,
      reason: expected,
      requiredTier: lacksTier ? entry.minTier : null,
    });
    expect(outcome(() => requireReadable(caller, entry))).toBe(expected === null ? 'ok' : `403 ${expected}`);
  });

  it('nobody knows has nothing to protect', () => {
    expect(outcome(() => requireReadable({ tier: 'free', attested: false }, null))).toBe('ok');
  });

  it('covers every combination', () => {
    expect(cases).toHaveLength(3 * 2 * 3 * 2);
  });
});

describe('features', () => {
  it.each([
    ['free', false, '403 not_entitled_tier', '403 not_entitled_tier'],
    ['free', true, '403 not_entitled_tier', '403 not_entitled_tier'],
    ['basic', false, '403 not_entitled_tier', '403 attestation_required'],
    ['basic', true, '403 not_entitled_tier', 'ok'],
    ['pro', false, '403 attestation_required', '403 attestation_required'],
    ['pro', true, 'ok', 'ok'],
  ] as const)('for %s, attested %s: flow %s, off-exchange %s', (tier, attested, flow, offExchange) => {
    expect(outcome(() => requireFlow({ tier, attested }))).toBe(flow);
    expect(outcome(() => requireOffExchange({ tier, attested }))).toBe(offExchange);
  });

  it('that only people may use are refused to keys', () => {
    expect(outcome(() => requireSiteSession({ kind: 'key' }, 'Managing keys'))).toBe('403 not_entitled_tier');
    expect(outcome(() => requireSiteSession({ kind: 'session' }, 'Managing keys'))).toBe('ok');
  });

  it('that need the declaration say so', () => {
    expect(outcome(() => requireAttestation({ attested: false }, 'An API key'))).toBe('403 attestation_required');
    expect(outcome(() => requireAttestation({ attested: true }, 'An API key'))).toBe('ok');
  });
});

describe('capability flags', () => {
  it.each(everyCaller)('go by the site tier: $tier, attested $attested', ({ tier, attested }) => {
    expect(flowCapability({ siteTier: tier, attested })).toBe(tier === 'pro' && attested);
    expect(offExchangeCapability({ siteTier: tier, attested })).toBe(tier !== 'free' && attested);
  });
});
