import { z } from 'zod';
import { tiers } from '../../platform/config/tiers.ts';
import { typeNames } from '../contract/variable-readers.ts';
import { FileProblem, lineOfKey } from './problems.ts';
import type { SourceFile } from './route-files.ts';

const parameter = z.strictObject({
  variable: z
    .string()
    .regex(/^[A-Za-z_]\w{0,99}$/, { error: 'expected the name of a variable' })
    .optional(),
  type: z.enum(typeNames, { error: `expected one of ${typeNames.join(', ')}` }).optional(),
  description: z.string().max(2000).optional(),
  example: z
    .union([z.string().max(2000), z.number(), z.boolean()])
    .transform(String)
    .optional(),
});

/** Settings of a parameter of an operator's route. */
export type ParameterSettings = z.output<typeof parameter>;

const settings = z.strictObject({
  path: z.string().max(500).optional(),
  method: z
    .enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { error: 'expected GET, POST, PUT, PATCH or DELETE' })
    .default('GET'),
  data: z
    .string()
    .regex(/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/, { error: 'expected response keys joined by dots, such as symbol.gex' })
    .optional(),
  parameters: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,49}$/, { error: 'expected a name such as min_premium' }), parameter)
    .default({}),
  tier: z.enum(tiers, { error: `expected one of ${tiers.join(', ')}` }).default('free'),
  cache: z.enum(['sealed', 'none'], { error: 'expected sealed or none' }).default('sealed'),
  summary: z.string().min(1).max(120).optional(),
  description: z.string().max(4000).optional(),
});

/** The settings of an operator's route: `name.json`. */
export type RouteSettings = z.output<typeof settings>;

/** True if a text is the beginning of a JSON value. */
function isBeginning(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const { message } = error as SyntaxError;
    return /end of JSON input|Unterminated string/.test(message) || message.includes(`position ${text.length} `);
  }
}

/** The line of the first syntax error of a JSON text, which the parser does not always tell. */
function lineOfError(text: string): number {
  const lines = text.split('\n');
  let [good, bad] = [0, lines.length];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (isBeginning(lines.slice(0, middle).join('\n'))) good = middle;
    else bad = middle;
  }
  return bad;
}

/** Parses JSON. Throws the line of an error. */
export function parseJson({ text }: SourceFile): unknown {
  const json = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(json);
  } catch (error) {
    const reason = (error as SyntaxError).message.replace(/\s+/g, ' ');
    throw new FileProblem(`expected JSON: ${reason}`, lineOfError(json));
  }
}

/** A message of an issue, with the key that it is about. */
function problemOf(text: string, issue: z.core.$ZodIssue): FileProblem {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const path = [...issue.path, ...(unknown === undefined ? [] : [unknown])].map(String);
  const key = path.at(-1);
  const message = unknown === undefined ? issue.message : 'is not a setting of a route';
  return new FileProblem(`${path.join('.') || 'settings'}: ${message}`, key === undefined ? 1 : lineOfKey(text, key));
}

/** Reads the settings of a route; absent: all are at their defaults. */
export function readSettings(file: SourceFile | undefined): RouteSettings {
  if (!file) return settings.parse({});
  const read = settings.safeParse(parseJson(file));
  if (read.success) return read.data;
  throw new AggregateError(read.error.issues.map((issue) => problemOf(file.text, issue)));
}
