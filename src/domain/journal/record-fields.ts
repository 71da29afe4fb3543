import { invalidParameter } from '../../wire/failure.ts';
import { isId, maxIdLength } from '../account.ts';

/** A field of a record of the journal. */
export interface RecordField<V> {
  /** Its name on the wire, such as `account_id`; the graph has it in camelCase. */
  name: string;
  /** Its value; undefined = what was sent is none. */
  read: (value: unknown) => V | undefined;
  /** Values that it takes, as its error says. */
  expected: string;
  /** Its value when none was sent; a field without this is required. */
  absent?: (nowMs: number) => V;
}

/** Fields as they were sent, by their names. */
export type SentFields = Readonly<Record<string, unknown>>;

/** The names of fields in what was sent, and in what is wrong with it. */
type Naming = 'wire' | 'graph';

interface WrongField {
  problem: 'missing' | 'bad';
  name: string;
  expected: string;
}

type KnownField = RecordField<unknown> & { key: string; names: Record<Naming, string> };

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** A field's value; null = none was sent, of which an empty text is one. */
function sentValue(sent: SentFields, name: string): unknown {
  // An argument of the graph that was not sent is there, as undefined.
  const value = Object.hasOwn(sent, name) ? sent[name] : null;
  return value === undefined || value === '' ? null : value;
}

/** A text that `accepts` takes. */
export const readText = (accepts: (text: string) => boolean) => (value: unknown) =>
  typeof value === 'string' && accepts(value) ? value : undefined;

/** A finite number that `accepts` takes. */
export const readNumber = (accepts: (number: number) => boolean) => (value: unknown) =>
  typeof value === 'number' && Number.isFinite(value) && accepts(value) ? value : undefined;

/** An id that the caller chooses. */
export const idField = {
  read: readText(isId),
  expected: `expected 1 to ${maxIdLength} characters without control characters`,
};

/** The one declaration of a record's fields: reads them from REST, from files and from the graph. */
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

  /** Reads `fields` into `record`; returns the first that is wrong, null = none. */
  #readInto(
    record: Record<string, unknown>,
    fields: readonly KnownField[],
    { sent, nowMs, naming }: { sent: SentFields; nowMs: number; naming: Naming },
  ): WrongField | null {
    for (const { key, names, read, absent, expected } of fields) {
      const name = names[naming];
      const value = sentValue(sent, name);
      const found = value === null ? absent?.(nowMs) : read(value);
      if (found === undefined) return { problem: value === null ? 'missing' : 'bad', name, expected };
      record[key] = found;
    }
    return null;
  }

  #required(fields: readonly KnownField[], from: { sent: SentFields; nowMs: number; naming: Naming }): object {
    const record = {};
    const wrong = this.#readInto(record, fields, from);
    if (wrong) throw invalidParameter(wrong.name, wrong.problem === 'missing' ? 'is required' : wrong.expected);
    return record;
  }

  /**
   * Reads a record by names of the wire, or says what is wrong with the first field that is: `missing_<field>` or
   * `bad_<field>`. Null and empty count as not sent; other keys are skipped. `nowMs` is the time if none is given.
   */
  read(sent: SentFields, nowMs: number): T | string {
    const record = {};
    const wrong = this.#readInto(record, this.#fields, { sent, nowMs, naming: 'wire' });
    return wrong ? `${wrong.problem}_${wrong.name}` : (record as T);
  }

  /** Reads a record; throws 400 naming the first field that is wrong. */
  require(sent: SentFields, nowMs: number, naming: Naming = 'graph'): T {
    return this.#required(this.#fields, { sent, nowMs, naming }) as T;
  }

  /** Reads the fields that were sent, and those only: null clears one. Throws as `require`. */
  requirePatch(sent: SentFields, nowMs: number, naming: Naming = 'graph'): Partial<T> {
    const asked = this.#fields.filter(({ names }) => sent[names[naming]] !== undefined);
    return this.#required(asked, { sent, nowMs, naming }) as Partial<T>;
  }

  /**
   * A body of REST as input of the graph: names of the graph, values that were read. What was not sent is null, of a
   * patch omitted. Throws as `require`, by names of the wire.
   */
  graphInput(sent: SentFields, { isPatch = false } = {}): Record<string, unknown> {
    const record = isPatch ? this.requirePatch(sent, 0, 'wire') : this.require(sent, 0, 'wire');
    const values = new Map<string, unknown>(Object.entries(record));
    const found = this.#fields.filter(({ key }) => values.has(key));
    return Object.fromEntries(
      found.map(({ key, names }) => [names.graph, sentValue(sent, names.wire) === null ? null : values.get(key)]),
    );
  }
}
