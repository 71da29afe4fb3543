// The key is stored for the browser tab only, in session storage. GraphiQL uses the same name.
const entry = 'tapegraph-key';
const changed = 'tapegraph-key-changed';

/** The key that requests are sent under; '' = none was given. */
export function readKey(): string {
  return sessionStorage.getItem(entry) ?? '';
}

/** Stores a key for this tab, and notifies the listening parts of the page. */
export function saveKey(key: string): void {
  if (key.trim() === readKey()) return;
  sessionStorage.setItem(entry, key.trim());
  document.dispatchEvent(new CustomEvent(changed));
}

/** Calls `heard` with the key whenever it changes; returns what ends that. */
export function onKeyChange(heard: (key: string) => void): () => void {
  const listener = () => heard(readKey());
  document.addEventListener(changed, listener);
  return () => document.removeEventListener(changed, listener);
}

/** Headers of a request under the key; none when there is no key. */
export function keyHeaders(): Record<string, string> {
  const key = readKey();
  return key === '' ? {} : { authorization: `Bearer ${key}` };
}
