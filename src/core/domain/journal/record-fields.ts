import { InvalidValue } from '../../../platform/runtime/invalid-value.ts';
import { isId, maxIdLength } from '../account.ts';

/** A field of a record of the journal. */
export interface RecordField<V> {
  /** Its name on the wire, such as `account_id`; the graph has it in camelCase. */
  name: string;
  /** Reads its value; undefined = invalid. `nowMs`: the time now, Infinity = unknown. */
  read: (value: unknown, nowMs: number) => V | undefined;
  /** Description of valid values, for its error. */
  expected: string;
  /** Its default value; a field without one is required. */
  absent?: (nowMs: number) => V;
}

/** Sent fields, by their names. */
export type SentFields = Readonly<Record<string, unknown>>;

/** Naming of fields in the input, and in errors. */
type Naming = 'wire' | 'graph';

interface WrongField {
  problem: 'missing' | 'bad';
  name: string;
  expected: string;
}

type KnownField = RecordField<unknown> & { key: string; names: Record<Naming, string> };

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A field's value; null = absent, which includes an empty text. */
function sentValue(sent: SentFields, name: string): unknown {
  // An absent argument of the graph is present, as undefined.
  const value = Object.hasOwn(sent, name) ? sent[name] : null;
  return value === undefined || value === '' ? null : value;
}

/** Reads a text that `accepts` allows. */
export const readText = (accepts: (text: string) => boolean) => (value: unknown) =>
  typeof value === 'string' && accepts(value) ? value : undefined;

/** Reads a finite number that `accepts` allows. */
export const readNumber = (accepts: (number: number) => boolean) => (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && accepts(value) ? value : undefined;

/** An id that the caller chooses. */
export const idField = {
  read: readText(isId),
  expected: `expected 1 to ${maxIdLength} characters without control characters`,
};

/** The declaration of a record's fields: reads them from REST, from files and from the graph. */
export class RecordFields<T extends object> {
  readonly #fields: readonly KnownField[];

  /** Fields in the order in which they are checked. */
  constructor(fields: { [Key in keyof T]: RecordField<T[Key]> }) {
    this.#fields = Object.entries<RecordField<unknown>>(fields).map(([key, field]) => ({
      ...field,
      key,
      names: { wire: field.name, graph: camelCase(field.name) },
    }));
  }

  /** Their names on the wire, in order. */
  get names(): string[] {
    return this.#fields.map(({ name }) => name);
  }

  /** Reads `fields` into `record`. Returns the first invalid one, null = none. */
  #readInto(
    record: Record<string, unknown>,
    fields: readonly KnownField[],
    { sent, nowMs, naming }: { sent: SentFields; nowMs: number; naming: Naming },
  ): WrongField | null {
    for (const { key, names, read, absent, expected } of fields) {
      const name = names[naming];
      const value = sentValue(sent, name);
      const found = value === null ? absent?.(nowMs) : read(value, nowMs);
      if (found === undefined) return { problem: value === null ? 'missing' : 'bad', name, expected };
      record[key] = found;
    }
    return null;
  }

  #required(fields: readonly KnownField[], from: { sent: SentFields; nowMs: number; naming: Naming }): object {
    const record = {};
    const wrong = this.#readInto(record, fields, from);
    if (wrong) throw new InvalidValue(wrong.name, wrong.problem === 'missing' ? 'is required' : wrong.expected);
    return record;
  }

  /**
   * Reads a record by names of the wire, or returns the error of the first invalid field: `missing_<field>` or
   * `bad_<field>`. Null and empty count as absent; other keys are skipped. `nowMs` is the default time.
   */
  read(sent: SentFields, nowMs: number): T | string {
    const record = {};
    const wrong = this.#readInto(record, this.#fields, { sent, nowMs, naming: 'wire' });
    return wrong ? `${wrong.problem}_${wrong.name}` : (record as T);
  }

  /** Reads a record. Throws `InvalidValue` naming the first invalid field. */
  require(sent: SentFields, nowMs: number, naming: Naming = 'graph'): T {
    return this.#required(this.#fields, { sent, nowMs, naming }) as T;
  }

  /** Reads only the sent fields: null clears one. Throws like `require`. */
  requirePatch(sent: SentFields, nowMs: number, naming: Naming = 'graph'): Partial<T> {
    const asked = this.#fields.filter(({ names }) => sent[names[naming]] !== undefined);
    return this.#required(asked, { sent, nowMs, naming }) as Partial<T>;
  }

  /**
   * Converts a REST body to input of the graph: names of the graph, parsed values. Absent fields are null, or omitted
   * for a patch. Throws like `require`, by names of the wire.
   */
  graphInput(sent: SentFields, { isPatch = false } = {}): Record<string, unknown> {
    const always = Number.POSITIVE_INFINITY;
    const record = isPatch ? this.requirePatch(sent, always, 'wire') : this.require(sent, always, 'wire');
    const values = new Map<string, unknown>(Object.entries(record));
    const found = this.#fields.filter(({ key }) => values.has(key));
    return Object.fromEntries(
      found.map(({ key, names }) => [names.graph, sentValue(sent, names.wire) === null ? null : values.get(key)]),
    );
  }
}
