/**
 * An error whose cause is what was given: where it was found says nothing, and would take most of its time. `isTraced`:
 * one that has a trace nevertheless.
 */
export abstract class GivenError extends Error {
  constructor(message: string, options?: ErrorOptions, isTraced = false) {
    const { stackTraceLimit } = Error;
    if (!isTraced) Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A value that is not what was expected. Whoever received it knows what to answer. */
export class InvalidValue extends GivenError {
  override readonly name = 'InvalidValue';
  /** Name of the value, such as that of a parameter. */
  readonly value: string;
  readonly expected: string;

  constructor(value: string, expected: string) {
    super(`${value}: ${expected}`);
    this.value = value;
    this.expected = expected;
  }
}

/** Content over a limit, such as `10 MiB`. */
export class ContentTooLarge extends GivenError {
  override readonly name = 'ContentTooLarge';
  readonly limit: string;

  constructor(limit: string) {
    super(`expected at most ${limit}`);
    this.limit = limit;
  }
}
