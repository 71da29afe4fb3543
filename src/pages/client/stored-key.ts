// The key is in the browser's local storage: every tab has it until it is removed. GraphiQL uses the same name.
const entry = 'tapegraph-key';
const changed = 'tapegraph-key-changed';

/** The key of requests; '' = none was entered. */
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

/** Calls `heard` with the key whenever it changes, in this tab or another. Returns the function that stops this. */
export function onKeyChange(heard: (key: string) => void): () => void {
  const listener = () => heard(readKey());
  // `key` is null when the whole storage was cleared.
  const elsewhere = ({ key }: StorageEvent) => (key === entry || key === null) && listener();
  document.addEventListener(changed, listener);
  addEventListener('storage', elsewhere);
  return () => {
    document.removeEventListener(changed, listener);
    removeEventListener('storage', elsewhere);
  };
}

/** The sample market's key, if the server shows one; '' = none. */
export const sampleKey = (): string =>
  document.querySelector<HTMLElement>('[data-sample-key]')?.dataset.sampleKey ?? '';

/** Headers of a request with the key; none without a key. */
export function keyHeaders(): Record<string, string> {
  const key = readKey();
  return key === '' ? {} : { authorization: `Bearer ${key}` };
}
