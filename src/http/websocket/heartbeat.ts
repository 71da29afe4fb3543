/** Heartbeats that may stay unanswered, before the client counts as gone. */
const mostUnanswered = 3;

/** True if a client still answers. */
export interface Heartbeat {
  /** Time for a heartbeat: sends one, or reports the client as gone. */
  beat(): void;
  /** The client answered. */
  heard(): void;
}

/** Sends heartbeats by `send`; calls `lost` instead when three were not answered. */
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
