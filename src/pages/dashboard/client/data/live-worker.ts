// The shared worker of all tabs: it holds their streams. Each tab has a port; what it asks for is numbered by it.
import { openLive } from './live-link.ts';
import { SharedStreams, type TabSubscription } from './shared-streams.ts';

/** Messages of a tab: that it is there, what it listens to under a number, or that it listens to that no more. */
export type ToWorker =
  | { hello: true }
  | { id: number; subscription: TabSubscription }
  | { id: number; subscription: null };

const streams = new SharedStreams({
  open: openLive,
  now: () => Date.now(),
  random: () => Math.random(),
  // Tabs that are restored together connect at almost the same time.
  soon: (run) => void setTimeout(run, 30),
});

const scope = self as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = ({ ports }) => {
  const port = ports[0]!;
  const tabs = new Map<number, object>();
  port.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if ('hello' in data) return port.postMessage({ hello: true });
    const { id, subscription } = data;
    const tab = tabs.get(id) ?? {};
    if (subscription === null) {
      tabs.delete(id);
      streams.unsubscribe(tab);
    } else {
      tabs.set(id, tab);
      streams.subscribe(tab, subscription, (message) => port.postMessage({ id, message }));
    }
  };
};
