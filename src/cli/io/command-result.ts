import { reasonOf } from '../../store/rows/connection-failure.ts';
import type { Terminal } from './terminal.ts';

/** Result of a command. */
export interface CommandResult {
  /** The object printed with `--json`. */
  json: object;
  /** The text for people; an empty list prints nothing. */
  lines: string[];
  /** True if the command ended without an error but did not do everything asked. Absent = false. */
  failed?: boolean;
}

/** Thrown when the command did part of its work and reported it in its result; exit code 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** Wraps a command's work for commander: prints its result in the requested format. */
export function printing<Args extends unknown[]>(
  terminal: Terminal,
  options: () => { json?: boolean },
  work: (...args: Args) => Promise<CommandResult>,
) {
  return async (...args: Args): Promise<void> => {
    const result = await work(...args);
    const text = options().json ? [JSON.stringify(result.json)] : result.lines;
    if (text.length > 0) terminal.stdout.write(`${text.join('\n')}\n`);
    if (result.failed) throw new CommandFailed();
  };
}

/** A size as people read it. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

/** `rows` as aligned columns under `header`. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

/** An error as text. An AggregateError, as of a connection that fails at every address, has no message of its own. */
export function failureText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(failureText).join('; ');
  if (!(error instanceof Error)) return String(error);
  return reasonOf(error) || ((error as NodeJS.ErrnoException).code ?? error.name);
}
