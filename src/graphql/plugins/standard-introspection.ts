import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { written } from '../written-answer.ts';

/** Answers the standard introspection query from the cache. It is public and free for every caller. */
export function standardIntrospectionAnswers(answerTo: (document: DocumentNode) => string | null): Plugin {
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      const answer = answerTo(args.document as DocumentNode);
      if (answer !== null) setResultAndStopExecution(written(answer));
    },
  };
}
