/** A JSON Schema, 2020-12. */
export type JsonSchema = Record<string, unknown>;
