// The process in which the sample market is generated, stored and updated. cli/market-process.ts starts and controls
// it.
import { runMarket } from './cli/run-market.ts';

const stop = new AbortController();
// A terminal's Ctrl-C reaches every process; the parent process decides when this one ends.
process.on('SIGINT', () => {});
process.once('SIGTERM', () => stop.abort());
// The parent process has ended.
process.on('disconnect', () => stop.abort());

const well = await runMarket({
  send: (message) => {
    if (process.connected) process.send!(message, undefined, undefined, () => {});
  },
  onMessage: (listener) => void process.on('message', listener),
  stop,
  now: Date.now,
  stderr: process.stderr,
});
process.exitCode = well ? 0 : 1;
if (process.connected) process.disconnect();
