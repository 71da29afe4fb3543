import { TooManyPages } from './errors.ts';
import type { Rate } from './requests.ts';

/** Bounds of a list: reading it stops after `maxPages`, or after the page that reaches `maxRows`. */
export interface Bounds {
  maxPages?: number;
  maxRows?: number;
}

/** Bounds of a list whose caller gives none. */
const defaultBounds = { maxPages: 1000, maxRows: 1_000_000 };

/** An answer of a route. */
export class Answer<Data, Meta = Record<string, unknown>> {
  readonly data: Data;
  readonly meta: Meta;
  /** The caller's minute; null if the answer has no rate headers. */
  readonly rate: Rate | null;
  readonly #follow: (cursor: string) => Promise<Answer<Data, Meta>>;

  constructor(
    { data, meta }: { data: Data; meta: Meta },
    rate: Rate | null,
    follow: (cursor: string) => Promise<Answer<Data, Meta>>,
  ) {
    this.data = data;
    this.meta = meta;
    this.rate = rate;
    this.#follow = follow;
  }

  /** The position of the next page; null = this is the last. */
  get cursor(): string | null {
    return (this.meta as { cursor?: string }).cursor ?? null;
  }

  /**
   * This page and those after it, up to the bounds. Without any, a list of more than 1,000 pages or 1,000,000 rows
   * throws `TooManyPages`.
   */
  async *pages(bounds: Bounds = {}): AsyncGenerator<Answer<Data, Meta>, void> {
    const isDefault = bounds.maxPages === undefined && bounds.maxRows === undefined;
    const { maxPages = Infinity, maxRows = Infinity } = isDefault ? defaultBounds : bounds;
    if (!(maxPages >= 1 && maxRows >= 1)) throw new RangeError('maxPages, maxRows: expected 1 or more');
    const seen = new Set<string>();
    let rows = 0;
    for (let page: Answer<Data, Meta> = this; ; ) {
      yield page;
      const { cursor } = page;
      if (cursor === null) return;
      if (seen.has(cursor)) throw new TooManyPages(`the cursor ${cursor} was sent before`);
      seen.add(cursor);
      rows += (page.data as unknown[]).length;
      if (seen.size >= maxPages || rows >= maxRows) {
        if (!isDefault) return;
        throw new TooManyPages(`more than ${seen.size} pages with ${rows} rows; give maxPages or maxRows`);
      }
      page = await page.#follow(cursor);
    }
  }

  /** All pages as one. Its `cursor` is null unless a bound stopped it. */
  async all(bounds?: Bounds): Promise<Answer<Data, Meta>> {
    const rows: unknown[] = [];
    let last: Answer<Data, Meta> = this;
    for await (const page of this.pages(bounds)) {
      // One after the other: a page may have more rows than a call has arguments.
      for (const row of page.data as unknown[]) rows.push(row);
      last = page;
    }
    return new Answer({ data: rows as Data, meta: last.meta }, last.rate, last.#follow);
  }
}
