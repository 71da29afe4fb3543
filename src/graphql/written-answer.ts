import type { ExecutionResult } from 'graphql';

/** An answer whose data is written already, as Yoga sends it: extensions may be added until it is sent. */
export interface WrittenAnswer extends ExecutionResult {
  stringify: (answer: ExecutionResult) => string;
}

/** The answer that `json`, an object with `data` alone, says. */
export function written(json: string): WrittenAnswer {
  return {
    stringify: ({ extensions }) =>
      extensions === undefined ? json : `${json.slice(0, -1)},"extensions":${JSON.stringify(extensions)}}`,
  };
}

/** Whether an answer's data is written already. */
export function isWritten(answer: object): answer is WrittenAnswer {
  return 'stringify' in answer;
}
