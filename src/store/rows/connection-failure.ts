// By PostgreSQL's codes, and their classes.
function adviceOn(code: string): string {
  if (code.startsWith('28')) return 'Check the user and the password in it.';
  if (code === '3D000') return 'Create the database (createdb), or name another.';
  if (code === '53300') return 'Close other connections, or raise max_connections of the server.';
  return 'Check its host and port, and that the server is running and reachable from here.';
}

/** Why the server of a URL could not be reached, and what to do, for people. */
export function connectionFailure(error: unknown): string {
  const { message, code = '' } = error as { message: string; code?: string };
  return `${message || code}. ${adviceOn(code)}`;
}
