const prefix = 'tapegraph: ';
const clearLine = '\r\x1b[K';

/**
 * Reports steps on a stream, and that they still run: on a terminal one line that is rewritten each second, else a line
 * every ten seconds.
 */
export function openProgress(stream) {
  const running = new Map();
  let timer;

  const say = (line) => stream.write(`${stream.isTTY ? clearLine : ''}${prefix}${line}\n`);
  const status = () =>
    [...running].map(([name, begunAt]) => `${name} … ${Math.round((Date.now() - begunAt) / 1000)} s`).join(', ');

  function showStatus() {
    if (stream.isTTY) stream.write(`${clearLine}${prefix}${status()}`);
    else say(status());
  }

  /** Runs `work`, named for its progress ("installing packages") and its end ("installed packages"). */
  async function step(doing, done, work) {
    const begunAt = Date.now();
    running.set(doing, begunAt);
    timer ??= setInterval(showStatus, stream.isTTY ? 1000 : 10_000);
    if (stream.isTTY) showStatus();
    else say(`${doing} …`);
    try {
      await work();
      say(`${done} in ${((Date.now() - begunAt) / 1000).toFixed(1)} s`);
    } finally {
      running.delete(doing);
      if (running.size === 0) {
        clearInterval(timer);
        timer = undefined;
        if (stream.isTTY) stream.write(clearLine);
      }
    }
  }

  return { say, step };
}
