/** Files by their path below the folder that they are generated in: `generated/`, or that of a client. */
export type GeneratedFiles = ReadonlyMap<string, Buffer>;
