import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { type Html, html, trusted } from '../html.ts';
import type { FrameParts } from './client/frame-inputs.ts';

/**
 * The dashboard as initially drawn, with and without a key: the style sheet shows one of the two by the browser's
 * storage. Figures load later, with the reader's key.
 */
export async function dashboardFrames(parts: Omit<FrameParts, 'hasKey'>): Promise<Html> {
  // `as string` keeps TypeScript from checking the import: browser code has other global types than this file.
  const { frame } = (await import('./client/empty-dashboard.ts' as string)) as { frame: (parts: FrameParts) => VNode };
  return html`${[true, false].map(
    (hasKey) =>
      html`<div data-frame="${hasKey ? 'stored' : 'none'}">${trusted(renderToString(frame({ ...parts, hasKey })))}</div>`,
  )}`;
}
