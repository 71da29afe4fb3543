import type { CompiledRoute } from '../../../rest/contract/compiled-route.ts';
import type { PublishedLimits } from '../../guide-limits.ts';
import type { Html } from '../../html.ts';

/** Parts of a guide. */
export interface GuideParts {
  /** The server's clock, epoch ms. */
  nowMs: number;
  limits: PublishedLimits;
  compiled: readonly CompiledRoute[];
  /** The sample market's key, if the request may see it. */
  sampleKey: string | null;
}

/** A section of a guide, with a heading. */
export interface GuideSection {
  id: string;
  title: string;
  /** Synonyms of the subject, which readers search for and the text does not use. */
  alsoCalled?: string;
  body: Html;
}

/** A how-to page below `/docs`. */
export interface Guide {
  path: string;
  title: string;
  /** One sentence, for the top of the page, search engines and the search. */
  about: string;
  /** Synonyms of the subject, which readers search for and the text does not use. */
  alsoCalled: string;
  sections: (parts: GuideParts) => readonly GuideSection[];
}
