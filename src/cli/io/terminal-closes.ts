import { closeSync, openSync } from 'node:fs';

/** Returns a check that is true once the process has lost the terminal that it was started from, if it was. */
export function terminalCloses({ stdin, stdout, stderr }: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>) {
  const hadTerminal = [stdin, stdout, stderr].some(({ isTTY }) => isTTY);
  return (): boolean => {
    if (!hadTerminal) return false;
    try {
      closeSync(openSync('/dev/tty', 'r'));
      return false;
    } catch {
      return true;
    }
  };
}
