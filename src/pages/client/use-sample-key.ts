// The button beside the sample market's key: it stores the key for this browser, and shows whether it is in use.
import { onKeyChange, readKey, sampleKey, saveKey } from './stored-key.ts';

const button = document.querySelector<HTMLButtonElement>('[data-use-sample-key]');
if (button) {
  const show = () => {
    const inUse = readKey() === sampleKey();
    button.disabled = inUse;
    button.textContent = inUse ? 'In use in this browser' : 'Use it in this browser';
  };
  button.addEventListener('click', () => saveKey(sampleKey()));
  onKeyChange(show);
  show();
}
