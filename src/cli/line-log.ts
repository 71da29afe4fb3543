import type { Logger } from 'pino';

/** Lines of what logs in lines; warnings begin with `warning:`. */
export function lineLog(log: Logger): (text: string) => void {
  return (text) => (text.startsWith('warning: ') ? log.warn(text.slice('warning: '.length)) : log.info(text));
}
