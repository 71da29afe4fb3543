// The key is stored for the browser, in local storage: every tab has it until it is removed. GraphiQL uses the same
// name.
const entry = 'tapegraph-key';
const changed = 'tapegraph-key-changed';

/** The key that requests are sent under; '' = none was given. */
export function readKey(): string {
  return localStorage.getItem(entry) ?? '';
}

/**
 * Stores a key for this browser, or removes it (''), and notifies the listening parts of this page and of other tabs.
 */
export function saveKey(key: string): void {
  if (key.trim() === readKey()) return;
  if (key.trim() === '') localStorage.removeItem(entry);
  else localStorage.setItem(entry, key.trim());
  document.dispatchEvent(new CustomEvent(changed));
}

/** Calls `heard` with the key whenever it changes, in this tab or another; returns what ends that. */
export function onKeyChange(heard: (key: string) => void): () => void {
  const listener = () => heard(readKey());
  // `key` is null when everything stored was removed.
  const elsewhere = ({ key }: StorageEvent) => (key === entry || key === null) && listener();
  document.addEventListener(changed, listener);
  addEventListener('storage', elsewhere);
  return () => {
    document.removeEventListener(changed, listener);
    removeEventListener('storage', elsewhere);
  };
}

/** The sample market's key, where the server shows one; '' = it does not. */
export const sampleKey = (): string =>
  document.querySelector<HTMLElement>('[data-sample-key]')?.dataset.sampleKey ?? '';

/** Headers of a request under the key; none when there is no key. */
export function keyHeaders(): Record<string, string> {
  const key = readKey();
  return key === '' ? {} : { authorization: `Bearer ${key}` };
}
