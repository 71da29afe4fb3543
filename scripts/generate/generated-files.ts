/** Files by their path below `generated/`. */
export type GeneratedFiles = ReadonlyMap<string, Buffer>;
