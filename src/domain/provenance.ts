/** Callers that see the names of the files that figures come from: everybody, attested accounts, nobody. */
export const provenances = ['public', 'account', 'off'] as const;
export type Provenance = (typeof provenances)[number];
