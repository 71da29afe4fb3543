import { type JSONRPCMessage, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { clipped } from '../platform/wire/printed-value.ts';

/** Maximum number of issues in an answer, and of its characters. */
const mostIssues = 5;
const mostCharacters = 1000;

/** An issue reported by a validator. */
interface Issue {
  path: readonly (string | number)[];
  message: string;
}

function issuesIn(text: string): Issue[] {
  try {
    // Some follow "Invalid tools/call request: ".
    const issues: unknown = JSON.parse(text.slice(text.indexOf('[')));
    return Array.isArray(issues) ? issues.filter((issue) => Array.isArray(issue?.path)) : [];
  } catch {
    return [];
  }
}

const validatorCodes: readonly number[] = [ProtocolErrorCode.InternalError, ProtocolErrorCode.InvalidParams];

/**
 * An answer in its public form. If the params of a message do not fit the protocol, the SDK sends the validator's
 * issues as JSON, often as an internal error. This answer names the invalid params instead.
 */
export function withNamedParams(answer: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in answer) || !validatorCodes.includes(answer.error.code)) return answer;
  const issues = issuesIn(answer.error.message);
  if (issues.length === 0) return answer;
  const named = issues.slice(0, mostIssues).map(({ path, message }) => `${path.join('.')}: ${message}`);
  const message = clipped(named.join('; '), mostCharacters);
  return { ...answer, error: { ...answer.error, code: ProtocolErrorCode.InvalidParams, message } };
}
