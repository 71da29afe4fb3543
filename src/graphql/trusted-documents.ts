import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Authentication } from '../access/caller.ts';
import { Failure, invalidParameter, notFound, untrustedDocument } from '../platform/wire/failure.ts';
import { clipped } from '../platform/wire/printed-value.ts';
import { requestErrorOf } from './request-error.ts';

/** The id of a document by the hash of its text, as GraphQL over HTTP writes it. */
export const hashId = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Characters of an id in a message. */
const shownCharacters = 100;

/** Reads the credential of a request. */
type Authenticate = (request: IncomingMessage) => Promise<Authentication>;

/** Documents that clients name by an id (GraphQL over HTTP, Persisted Documents). */
export class TrustedDocuments {
  /** True if every document must be one of these. */
  readonly isRequired: boolean;
  readonly #authenticate: Authenticate;
  #texts: ReadonlyMap<string, string> = new Map();
  #listed: ReadonlySet<string> = new Set();

  constructor(isRequired: boolean, authenticate: Authenticate) {
    this.isRequired = isRequired;
    this.#authenticate = authenticate;
  }

  /** Replaces the documents. `others` are trusted by their text alone. */
  replace(texts: ReadonlyMap<string, string>, others: Iterable<string> = []): void {
    this.#texts = new Map([...texts, ...[...texts.values()].map((text) => [hashId(text), text] as const)]);
    this.#listed = new Set([...texts.values(), ...others]);
  }

  /** The text of an id, with or without the name of its hash; null = unknown. */
  find(id: string): string | null {
    return this.#texts.get(id) ?? this.#texts.get(`sha256:${id}`) ?? null;
  }

  /** Throws the 403 of a text that is not listed, if every text must be, as a request error. */
  require(text: string): void {
    if (this.isRequired && !this.#listed.has(text)) throw requestErrorOf(untrustedDocument());
  }

  /**
   * Throws the 403 of a text that is not listed, if every text must be, or every one of the request's key. Throws 502
   * if the key cannot be read.
   */
  async requireFor(request: IncomingMessage, text: string): Promise<void> {
    this.require(text);
    if (this.#listed.has(text)) return;
    const found = await this.#authenticate(request).catch((error) => {
      throw error instanceof Failure ? requestErrorOf(error) : error;
    });
    if (found.state === 'ok' && found.caller.trustedOnly) throw requestErrorOf(untrustedDocument());
  }

  /** Parameters of a request with the text of the document that it names, if it names one. Throws 400 or 404. */
  named<T extends { query?: unknown; documentId?: unknown }>(params: T): T | Omit<T, 'documentId'> {
    const { documentId, ...others } = params;
    if (documentId === undefined || documentId === null) return params;
    if (typeof documentId !== 'string' || documentId === '')
      throw requestErrorOf(invalidParameter('documentId', 'expected the id of a document'));
    if (others.query !== undefined && others.query !== null && others.query !== '')
      throw requestErrorOf(invalidParameter('documentId', 'expected only one of documentId and query'));
    const query = this.find(documentId);
    if (query === null) throw requestErrorOf(notFound(`Document ${clipped(documentId, shownCharacters)}`));
    return { ...others, query };
  }
}
