// The frame of a panel, and its states.
import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DashboardState } from './data/dashboard-state.ts';
import type { FieldError } from './data/graph-client.ts';
import { type Part, parts } from './data/part-names.ts';

/** Datasets behind panels, by their names on the command line. */
type Dataset = 'stock-minute-bars' | 'stock-day-bars' | 'stock-trades' | 'chain' | 'option-trades';

/** State of a panel. */
export type PanelState =
  | { kind: 'loading' }
  | { kind: 'shown' }
  /** Nothing to show, with the reason; `dataset` = the files to ingest if nothing of them is stored. */
  | { kind: 'empty'; why: string; dataset?: Dataset }
  /** The caller may not read it, with the requirement. */
  | { kind: 'locked'; title: string; why: string }
  | { kind: 'failed'; why: string };

/** The error of a field of the answer, or of one above or below it; null = none. */
function errorAt(errors: readonly FieldError[], path: readonly string[]): FieldError | null {
  return errors.find(({ path: at }) => at.slice(0, path.length).every((part, index) => part === path[index])) ?? null;
}

/** The panel state for an error. */
function stateOfError(error: FieldError, tier: string | null): PanelState {
  if (error.code === 'not_entitled_tier') {
    return {
      kind: 'locked',
      title: error.requiredTier === null ? 'Not in your plan' : `Needs the ${error.requiredTier} tier`,
      why: tier === null ? error.message : `${error.message} Your key is served under the ${tier} tier.`,
    };
  }
  if (error.code === 'attestation_required')
    return { kind: 'locked', title: 'Needs a declaration', why: error.message };
  if (error.code === 'not_found') return { kind: 'empty', why: error.message };
  if (error.code === 'rate_limited') return { kind: 'failed', why: 'Too many requests at once.' };
  return { kind: 'failed', why: error.message };
}

/** The state until a panel's data was requested: loading, or the reason why not. */
function stateBefore({ phase, failure }: Pick<DashboardState, 'phase' | 'failure'>): PanelState {
  if (phase !== 'failed') return { kind: 'loading' };
  const rate = failure?.kind === 'rate';
  return { kind: 'empty', why: rate ? 'Shown as soon as the budget of this key allows.' : 'Nothing was loaded.' };
}

/**
 * The state of a panel by the answer: `path` is the field's, `why` the reason for no data; null = there is data. `part`
 * = it loads when it scrolls into view; `dataset` = nothing of it is stored.
 */
export function panelState(
  state: Pick<DashboardState, 'answer' | 'phase' | 'failure' | 'errors' | 'loaded'>,
  path: readonly string[],
  why: string | null,
  part?: Part | null,
  dataset?: Dataset | null,
): PanelState {
  const { answer, errors, phase } = state;
  if (answer !== null && part != null && why !== null && !state.loaded.includes(part)) return stateBefore(state);
  if (answer === null) return phase === 'failed' ? { kind: 'empty', why: 'Nothing was loaded.' } : { kind: 'loading' };
  const error = errorAt(errors, path);
  if (error && why !== null) return stateOfError(error, answer.me.tier);
  return why === null ? { kind: 'shown' } : { kind: 'empty', why, ...(dataset && { dataset }) };
}

/** A chart's figures as an accessible table. */
interface FigureTable {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

interface PanelProps {
  id: string;
  title: string;
  state: PanelState;
  /** Text beside the title: the kind of figures, and their time. */
  note?: string | null;
  /** Controls in the head of the panel. */
  controls?: ComponentChildren;
  /** Content between head and chart. */
  legend?: ComponentChildren;
  table?: () => FigureTable;
  retry: () => void;
  /** Its part, which loads when it scrolls into view: `see` is called then. */
  part?: Part;
  see?: () => void;
  children?: ComponentChildren;
}

const shownRows = 400;

function figures({ head, rows }: FigureTable, title: string): VNode {
  return html`<div class="figures" tabindex="0" role="region" aria-label=${`${title}, as a table`}>
    <table><thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, shownRows).map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>
    ${rows.length > shownRows ? html`<p class="more">The first ${shownRows} of ${rows.length} rows.</p>` : null}
  </div>` as VNode;
}

function message(state: PanelState, retry: () => void): VNode | null {
  if (state.kind === 'loading') {
    return html`<div class="skeleton" aria-hidden="true">${Array.from({ length: 8 }, () => html`<i></i>`)}</div>` as VNode;
  }
  if (state.kind === 'empty') {
    const { why, dataset } = state;
    return html`<div class="message"><p>${why}</p>
      ${dataset === undefined ? null : html`<p>Load it from files: <code>tapegraph ingest ${dataset} FILE</code></p>`}</div>` as VNode;
  }
  if (state.kind === 'locked') {
    return html`<div class="message locked">
      <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><rect x="5" y="11" width="14" height="9" rx="2" fill="none" stroke="currentColor" stroke-width="1.8"/><path d="M8 11V8a4 4 0 0 1 8 0v3" fill="none" stroke="currentColor" stroke-width="1.8"/></svg>
      <b>${state.title}</b><p>${state.why}</p></div>` as VNode;
  }
  if (state.kind === 'failed')
    return html`<div class="message failed" role="alert"><b>Could not be loaded</b><p>${state.why}</p><button type="button" onClick=${retry}>Try again</button></div>` as VNode;
  return null;
}

/**
 * A panel: head, states, body, and a switch to its figures. A new body replaces the former one in place, so that
 * nothing moves when the head gets its controls.
 */
export function Panel(props: PanelProps): VNode {
  const { id, title, state, note, controls, legend, table, retry, part, see, children } = props;
  const section = useRef<HTMLElement>(null);
  useEffect(() => (see ? whenInSight(section.current!, see) : undefined), []);
  const [asTable, setAsTable] = useState(false);
  const shown = state.kind === 'shown';
  return html`<section ref=${section} class="panel card" id=${id} data-part=${part} data-state=${state.kind} aria-labelledby=${`${id}-title`} aria-busy=${state.kind === 'loading'}>
    <div class="head">
      <h2 id=${`${id}-title`}>${title}</h2>
      ${note && shown ? html`<span class="note">${note}</span>` : null}
      <div class="controls">
        ${shown ? controls : null}
        ${shown && table ? html`<button type="button" class="chip" aria-pressed=${asTable} onClick=${() => setAsTable(!asTable)} title="Show as a table">Table</button>` : null}
      </div>
    </div>
    ${shown ? legend : null}
    <div class="body" key=${shown}>${shown ? (asTable && table ? figures(table(), title) : children) : message(state, retry)}</div>
  </section>` as VNode;
}

/** A row of choices; one is selected. */
export function Choice<Value extends string>({
  label,
  values,
  names,
  value,
  choose,
}: {
  label: string;
  values: readonly Value[];
  names: Readonly<Record<Value, string>>;
  value: Value;
  choose: (value: Value) => void;
}): VNode {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${values.map((one) => html`<button type="button" class="chip" aria-pressed=${one === value} onClick=${() => choose(one)}>${names[one]}</button>`)}
  </div>` as VNode;
}

// Visibility of panels in the viewport.

const isInSight = (panel: Element) => {
  const { top, bottom } = panel.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
};

/** The parts with a panel in the viewport. */
export function partsInSight(): Part[] {
  const panels = [...document.querySelectorAll<HTMLElement>('[data-part]')];
  return parts.filter((part) => panels.some((panel) => panel.dataset.part === part && isInSight(panel)));
}

/** Calls `say` whenever an element enters or leaves the viewport. Returns the function that stops this. */
export function whileInSight(element: Element, say: (inSight: boolean) => void): () => void {
  const observer = new IntersectionObserver((entries) => say(entries.at(-1)!.isIntersecting));
  observer.observe(element);
  return () => observer.disconnect();
}

/** Calls `see` whenever the panel enters the viewport. Returns the function that stops this. */
const whenInSight = (panel: Element, see: () => void) => whileInSight(panel, (inSight) => inSight && see());
