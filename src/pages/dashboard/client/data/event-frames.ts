// Server-sent events as they come in over `fetch`, which unlike EventSource can send a credential.

/** An event of a stream. */
export interface SentEvent {
  event: string;
  data: string;
}

/** Takes a stream's text in pieces of any size, and passes on each event when it is complete; comments are skipped. */
export function eventFrames(onEvent: (event: SentEvent) => void): (text: string) => void {
  let waiting = '';
  return (text) => {
    const frames = (waiting + text.replaceAll('\r\n', '\n')).split('\n\n');
    waiting = frames.pop()!;
    for (const frame of frames) {
      const fields = frame.split('\n').filter((line) => !line.startsWith(':'));
      const values = (name: string) =>
        fields
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      if (fields.length > 0) onEvent({ event: values('event').at(-1) ?? 'message', data: values('data').join('\n') });
    }
  };
}
