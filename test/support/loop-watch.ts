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
