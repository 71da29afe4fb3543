// A tab's way to its live data: through the worker that all tabs share, else a connection of its own; paused while
// nobody looks.
import type { LiveParts, LiveState } from './live-link.ts';
import type { TabMessage } from './shared-streams.ts';

type Open = (parts: LiveParts) => () => void;

/** A port of the shared worker, as far as it is used here. */
export interface WorkerPort {
  postMessage: (message: unknown) => void;
  onmessage: ((event: MessageEvent) => void) | null;
}

/** A worker that has not answered for so long is none, ms. On a busy machine one takes seconds to start. */
const answerWithinMs = 10_000;
/** Interval at which a tab says what it listens to, ms. */
const sayEveryMs = 15_000;

/**
 * Opens subscriptions through the worker; where it does not answer, or there is none, by `alone`. One that answers late
 * takes over what was opened without it.
 */
export function throughWorker(port: WorkerPort | null, alone: Open): Open {
  if (port === null) return alone;
  const tabs = new Map<number, (message: TabMessage) => void>();
  let last = 0;
  let isThere = false;
  const answered = new Promise<void>((resolve) => {
    port.onmessage = ({ data }: MessageEvent<{ hello: true } | { id: number; message: TabMessage }>) => {
      if ('hello' in data) {
        isThere = true;
        resolve();
      } else tabs.get(data.id)?.(data.message);
    };
    port.postMessage({ hello: true });
  });
  const late = new Promise<void>((resolve) => setTimeout(resolve, answerWithinMs));
  return (parts) => {
    let closeOwn = () => {};
    let closeShared = () => {};
    let state: 'waiting' | 'alone' | 'shared' | 'closed' = 'waiting';
    parts.onState('connecting');
    void late.then(() => {
      // A worker that has answered takes what is opened at any time after that.
      if (state !== 'waiting' || isThere) return;
      state = 'alone';
      closeOwn = alone(parts);
    });
    void answered.then(() => {
      if (state === 'closed') return;
      let taken = state === 'waiting';
      state = 'shared';
      // Its own connection is closed once the shared one is open: no event is missed between them.
      const onState = (now: LiveState) => {
        if (!taken && now !== 'live') return;
        taken = true;
        closeOwn();
        parts.onState(now);
      };
      closeShared = subscribe(port, tabs, ++last, { ...parts, onState });
    });
    return () => {
      state = 'closed';
      closeOwn();
      closeShared();
    };
  };
}

function subscribe(
  port: WorkerPort,
  tabs: Map<number, (message: TabMessage) => void>,
  id: number,
  { url, key, operations, onState, onReturn }: LiveParts,
): () => void {
  let state: LiveState | null = null;
  tabs.set(id, (message) => {
    if ('state' in message) {
      if (message.state !== state) onState(message.state);
      state = message.state;
    } else if ('returned' in message) onReturn();
    else operations.find(({ name }) => name === message.name)?.onData(message.data);
  });
  const sent = operations.map(({ name, query, variables }) => ({ name, query, variables }));
  const say = () => port.postMessage({ id, subscription: { url, key, operations: sent } });
  say();
  const timer = setInterval(say, sayEveryMs);
  return () => {
    clearInterval(timer);
    tabs.delete(id);
    port.postMessage({ id, subscription: null });
  };
}

/**
 * Opens subscriptions by what `make` gives, once, when `ready` has come or failed: a worker that starts beside much
 * else answers late, and would be taken for none.
 */
export function afterwards(ready: () => Promise<unknown>, make: () => Open): Open {
  let open: Open | null = null;
  return (parts) => {
    let close = () => {};
    let closed = false;
    parts.onState('connecting');
    const begin = () => {
      open ??= make();
      if (!closed) close = open(parts);
    };
    void ready().then(begin, begin);
    return () => {
      closed = true;
      close();
    };
  };
}

/** True if anybody can see the page, and what tells of a change. */
export interface Visibility {
  isHidden: () => boolean;
  onChange: (heard: () => void) => () => void;
}

/** A page that is hidden for less than this goes on, ms. */
const hiddenForMs = 5000;

/**
 * Subscriptions that pause while the page is hidden; when they go on, `onReturn` is called, since something was missed.
 */
export function whileVisible(open: Open, { isHidden, onChange }: Visibility): Open {
  return (parts) => {
    let close: (() => void) | null = null;
    let missed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const goOn = () => {
      close = open({
        ...parts,
        onState: (state) => {
          parts.onState(state);
          if (state !== 'live' || !missed) return;
          missed = false;
          parts.onReturn();
        },
      });
    };
    const pause = () => {
      close?.();
      close = null;
      missed = true;
      parts.onState('off');
    };
    const look = () => {
      clearTimeout(timer);
      if (!isHidden()) close ?? goOn();
      else if (close === null) missed = true;
      else timer = setTimeout(pause, hiddenForMs);
    };
    const forget = onChange(look);
    look();
    return () => {
      clearTimeout(timer);
      forget();
      close?.();
    };
  };
}
