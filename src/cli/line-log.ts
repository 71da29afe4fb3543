import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import { secretsOf } from '../platform/config/printed-settings.ts';
import { openLog } from '../platform/observe/log.ts';

/** The log by the settings. */
export function logOf(config: Config, stream: Writable): Logger {
  return openLog({ level: config.logLevel, format: config.logFormat, secrets: secretsOf(config) }, stream);
}

const warning = 'warning: ';

/** A log for code that logs lines, at a level; warnings begin with `warning:`. */
export function lineLog(log: Logger, level: 'info' | 'debug' = 'info'): (text: string) => void {
  return (text) => (text.startsWith(warning) ? log.warn(text.slice(warning.length)) : log[level](text));
}
