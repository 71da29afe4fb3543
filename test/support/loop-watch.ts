/**
 * Watches the event loop of this process. The returned function stops this and returns the maximum CPU time of this
 * thread in one iteration, ms. Time lost to other processes of a busy machine does not count.
 */
export function watchLoop(): () => number {
  let last = process.threadCpuUsage();
  let most = 0;
  let watching = true;
  const look = () => {
    const now = process.threadCpuUsage();
    most = Math.max(most, (now.user - last.user + now.system - last.system) / 1000);
    last = now;
    if (watching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    watching = false;
    return most;
  };
}

/** CPU time of `fixedWork` on the machine for which bounds in milliseconds are written, ms. */
const writtenForMs = 20;

/** Work like that of an answer: rows are allocated, kept and written. Returns its CPU time, ms. */
function fixedWork(): number {
  const before = process.threadCpuUsage();
  const rows = Array.from({ length: 60_000 }, (_, i) => ({ at: i, price: 600 + i / 7, size: 3 * i, side: 'buy' }));
  JSON.stringify(rows);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** CPU time of the same work now, in multiples of the usual machine's; at least 1. */
export function slowness(): number {
  const took = Array.from({ length: 7 }, fixedWork).sort((a, b) => a - b);
  return Math.max(1, took[3]! / writtenForMs);
}
