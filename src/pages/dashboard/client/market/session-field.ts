// The choice of the session.
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { DashboardController } from '../data/dashboard-controller.ts';
import { shownSession } from '../data/dashboard-state.ts';
import { useEntries } from '../data/state-store.ts';
import { fullDate } from '../format.ts';
import { contentsText, sessionsOf } from './sessions.ts';

const entries = ['view', 'latestSession', 'answer', 'capture', 'sessions'] as const;

/** The list of sessions. A year of them is long, so it is drawn only when it changes, not with every price. */
export function SessionField({ controller }: { controller: DashboardController }): VNode {
  const state = useEntries(controller.store, entries);
  const { view, latestSession, sessions: contents } = state;
  const shown = shownSession(state);
  const sessions = sessionsOf(state);
  // Until the sessions are loaded, the list contains the one in the address.
  const all = sessions.includes(shown) ? sessions : [...sessions, shown];
  const rows = contents.symbol === view.symbol ? contents.rows : [];
  const options = useMemo(() => {
    const stored = new Map(rows.map((row) => [row.sessionDate, ` · ${contentsText(row)}`]));
    const text = (one: string) => fullDate(one) + (stored.get(one) ?? '');
    return all.map((one) => html`<option key=${one} value=${one} selected=${one === shown}>${text(one)}</option>`);
  }, [all.join(), shown, rows]);
  const see = () => controller.seeSessions();
  const choose = (event: Event) => {
    const { value } = event.target as HTMLSelectElement;
    controller.show({ session: value === latestSession ? null : value });
  };
  return html`<span class="session">
    <label><span class="visually-hidden">Session</span><select id="session" value=${shown} onChange=${choose} onFocus=${see} onPointerEnter=${see}>
      ${options}
    </select></label>
    ${view.session === null ? null : html`<button type="button" onClick=${() => controller.show({ session: null })}>Back to live</button>`}
  </span>` as VNode;
}
