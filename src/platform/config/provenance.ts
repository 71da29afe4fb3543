/** Callers that may see the names of source files: everybody, attested accounts, nobody. */
export const provenances = ['public', 'account', 'off'] as const;
export type Provenance = (typeof provenances)[number];
