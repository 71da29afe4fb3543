// By PostgreSQL's codes, and their classes.
function adviceOn(code: string): string {
  if (code.startsWith('28')) return 'Check the user and the password in it.';
  if (code === '3D000') return 'Create the database (createdb), or name another.';
  if (code === '53300') return 'Close other connections, or raise max_connections of the server.';
  return 'Check its host and port, and that the server is running and reachable from here.';
}

const prismaCall = /^\s*Invalid `[^`]*` invocation:\s*/;

/** The reason of a database error, `pg`'s or Prisma's, whose messages begin with lines about the call. */
export function reasonOf({ message }: Error): string {
  return message.replace(prismaCall, '');
}

/** The reason for which the server of a URL could not be reached, and the remedy, for people. */
export function connectionFailure(error: unknown): string {
  const { code = '' } = error as { code?: string };
  return `${reasonOf(error as Error) || code}. ${adviceOn(code)}`;
}
