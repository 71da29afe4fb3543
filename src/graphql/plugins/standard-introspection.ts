import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { WrittenJson } from '../../platform/wire/json-chunks.ts';
import { sentPoints } from '../limits/sent-points.ts';
import { stateOf } from '../request-state.ts';

/** Answers the standard introspection query from the cache. It is public and free for every caller. */
export function standardIntrospectionAnswers(answerTo: (document: DocumentNode) => Buffer | null): Plugin {
  return {
    onExecute: ({ args, setResultAndStopExecution }) => {
      // With a large body it is charged like any other document.
      if (sentPoints(stateOf(args as never)) > 0) return;
      const data = answerTo(args.document as DocumentNode);
      if (data !== null) setResultAndStopExecution({ data: new WrittenJson([data]) as never });
    },
  };
}
