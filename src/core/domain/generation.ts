import type { SessionDate } from './market-time.ts';

/** Makers of a generation of stored data. `file`: files that were ingested. `live`: lines of a live tape. */
export const generationMakers = ['file', 'reconciliation', 'recompute', 'live'] as const;
export type GenerationMaker = (typeof generationMakers)[number];

/** A file that data was read from. */
export interface IngestedSource {
  /** Base name, without the query of an address. */
  name: string;
  /** SHA-256 of its content, unpacked; hexadecimal. Null = not known, as for files that an older version stored. */
  sha256: string | null;
  /** Lines of its content after the header; null = not known, or it has none, as of JSON. */
  lines: number | null;
}

/** Lines of a live tape that the data was made from. */
export interface LiveLines {
  /** Name of the tape. */
  source: string;
  /** Counted from 1. */
  fromLine: number;
  /** Null while the tape is followed. */
  throughLine: number | null;
}

/** A part of the stored data of a symbol, which is written as one. */
export interface GenerationPart {
  /** `*` for a list that is of no symbol. */
  symbol: string;
  /** First and last session. */
  from: SessionDate;
  through: SessionDate;
  /** Time of a capture, epoch ms; 0 for sessions as a whole. */
  instantMs: number;
}

/** Sources of a generation, and what made it. */
export interface GenerationSource {
  made: GenerationMaker;
  files: readonly IngestedSource[];
  /** Null for files. */
  live: LiveLines | null;
  /** Epoch ms. */
  ingestedMs: number;
  /** Version of the definitions, and of the program. Null = not known. */
  methodologyVersion: string | null;
  productVersion: string | null;
}

/** A part as a writer left it. */
export interface Generation extends GenerationPart, GenerationSource {
  dataset: string;
  /** Epoch ms; null = it is in force. */
  supersededMs: number | null;
}

/** The part that a symbol's session is. */
export function sessionPart(symbol: string, session: SessionDate): GenerationPart {
  return { symbol, from: session, through: session, instantMs: 0 };
}

/** The part that a capture is. */
export function capturePart(capture: {
  underlying: string;
  sessionDate: SessionDate;
  capturedAt: number;
}): GenerationPart {
  const { underlying: symbol, sessionDate, capturedAt: instantMs } = capture;
  return { symbol, from: sessionDate, through: sessionDate, instantMs };
}

/** The whole of a list. */
export const wholeList: GenerationPart = { symbol: '*', from: '0001-01-01', through: '9999-12-31', instantMs: 0 };
