/** Number of unanswered heartbeats after which the client counts as gone. */
const mostUnanswered = 3;

/** Detects clients that no longer answer. */
export interface Heartbeat {
  /** Sends a heartbeat, or reports the client as gone. */
  beat(): void;
  /** Records an answer of the client. */
  heard(): void;
}

/** Sends heartbeats by `send`; calls `lost` instead after three without an answer. */
export function heartbeat(send: () => void, lost: () => void): Heartbeat {
  let unanswered = 0;
  return {
    beat() {
      if (unanswered >= mostUnanswered) return lost();
      unanswered += 1;
      send();
    },
    heard() {
      unanswered = 0;
    },
  };
}
