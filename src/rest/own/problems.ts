import { GraphQLError } from 'graphql';
import { failureWithin } from '../../platform/wire/failure.ts';

/** A reason for which a file of the routes' folder cannot be served. */
export interface Problem {
  /** Name of the file in the folder. */
  file: string;
  /** Line from 1; null = the file as a whole. */
  line: number | null;
  reason: string;
}

/** Thrown for a problem at a line of the file at hand. */
export class FileProblem extends Error {
  readonly line: number | null;

  constructor(reason: string, line: number | null = null) {
    super(reason);
    this.line = line;
  }
}

/** Thrown for a problem of a setting of a route, which its JSON file has, if it has one. */
export class SettingProblem extends FileProblem {
  readonly key: string;

  /** `key` is where the setting is written. */
  constructor(key: string, reason: string) {
    super(`${key}: ${reason}`);
    this.key = key.split('.')[0] === 'parameters' ? key.split('.').slice(0, 2).at(-1)! : key;
  }
}

/** Maximum number of problems in a message. */
const mostShown = 20;

const lineText = ({ file, line, reason }: Problem) => `${file}${line === null ? '' : `:${line}`}: ${reason}`;

/** Thrown if files of the routes' folder cannot be served. The message has a line for each problem. */
export class RoutesError extends Error {
  override readonly name = 'RoutesError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.slice(0, mostShown).map(lineText);
    if (problems.length > mostShown) lines.push(`and ${problems.length - mostShown} more problems`);
    super(lines.join('\n'));
    this.problems = problems;
  }
}

const lineOf = ({ locations, nodes }: GraphQLError): number | null =>
  locations?.[0]?.line ?? nodes?.[0]?.loc?.startToken.line ?? null;

/** The line on which a key is written first in JSON; null if it is not. */
export function lineOfKey(text: string, key: string): number | null {
  const found = text.indexOf(JSON.stringify(key));
  return found === -1 ? null : text.slice(0, found).split('\n').length;
}

/** A file that is read, and the one with its settings. */
interface About {
  file: string;
  settings?: { name: string; text: string } | undefined;
}

/** The problems behind a value thrown while a file was read. Throws it again if it is not about the file. */
function problemsOf({ file, settings }: About, thrown: unknown): Problem[] {
  if (thrown instanceof AggregateError) return thrown.errors.flatMap((each) => problemsOf({ file, settings }, each));
  if (thrown instanceof SettingProblem && settings)
    return [{ file: settings.name, line: lineOfKey(settings.text, thrown.key), reason: thrown.message }];
  if (thrown instanceof FileProblem) return [{ file, line: thrown.line, reason: thrown.message }];
  if (thrown instanceof GraphQLError) return [{ file, line: lineOf(thrown), reason: thrown.message }];
  const failure = failureWithin(thrown);
  if (failure) return [{ file, line: null, reason: failure.message }];
  throw thrown;
}

/** Collects the problems of several files, and continues after each. */
export class Problems {
  readonly found: Problem[] = [];

  /** Runs `work` about a file; undefined if it had a problem. */
  of<T>(file: string, work: () => T, settings?: About['settings']): T | undefined {
    try {
      return work();
    } catch (thrown) {
      this.found.push(...problemsOf({ file, settings }, thrown));
      return undefined;
    }
  }

  /** Throws `RoutesError` if there is any. */
  requireNone(): void {
    if (this.found.length > 0) throw new RoutesError(this.found);
  }
}
