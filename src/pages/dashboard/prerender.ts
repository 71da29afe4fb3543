import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type Html, html, trusted } from '../html.ts';
import type { FrameParts } from './client/frame-parts.ts';

// `as string` keeps TypeScript from reading it: browser code is typed for browsers, where this is typed for Node.
const { frame } = (await import('./client/empty-dashboard.ts' as string)) as {
  frame: (parts: FrameParts) => VNode;
};

/**
 * The dashboard as it is drawn at first, with and without a key: which of the two a browser shows, its style sheet
 * decides by what it has stored. Figures come later, under the reader's key.
 */
export function dashboardFrames(parts: Omit<FrameParts, 'hasKey'>): Html {
  return html`${[true, false].map(
    (hasKey) =>
      html`<div data-frame="${hasKey ? 'stored' : 'none'}">${trusted(renderToString(frame({ ...parts, hasKey })))}</div>`,
  )}`;
}
