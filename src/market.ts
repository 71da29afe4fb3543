// The process in which the sample market is made, stored and trades. It is started by cli/market-process.ts, which says
// what to do.
import { runMarket } from './cli/run-market.ts';

const stop = new AbortController();
// A terminal's Ctrl-C reaches every process; it is the first one's to tell the others.
process.on('SIGINT', () => {});
process.once('SIGTERM', () => stop.abort());
// The process that started this one has ended.
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
