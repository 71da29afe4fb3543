import { existsSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const expiresMs = 15 * 60_000;
const textOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null);

function holderIsGone(file, text) {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  // A holder that has not yet written its number is given a second.
  if (text === '') return age > 1000;
  if (age > expiresMs) return true;
  try {
    process.kill(Number(text), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Removes a lock whose holder ended; one that another process took meanwhile is restored. */
function breakLock(file, text) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (textOf(aside) === text) unlinkSync(aside);
  else renameSync(aside, file);
}

/** Takes the lock file; waits while another process holds it, calling `onWait` once and `check` each time. */
export async function takeLock(file, onWait, check) {
  for (let waited = false; ; ) {
    check();
    try {
      return writeFileSync(file, String(process.pid), { flag: 'wx' });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const text = textOf(file);
    if (text === null) continue;
    if (holderIsGone(file, text)) {
      breakLock(file, text);
      continue;
    }
    if (!waited) onWait();
    waited = true;
    await delay(100);
  }
}
