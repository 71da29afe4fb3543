// The header of all pages: the field for the key, and the theme.

import { followMarketLoading } from './market-loading.ts';
import { onKeyChange, readKey, sampleKey, saveKey } from './stored-key.ts';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];
const signs: Record<Theme, string> = { system: '◐', light: '☀', dark: '☾' };

function showKeyField(): void {
  const form = document.querySelector<HTMLFormElement>('#key-form');
  const input = document.querySelector<HTMLInputElement>('#key-input');
  if (!form || !input) return;
  const show = () => {
    const key = readKey();
    if (input.value.trim() !== key) input.value = key;
    // The style sheet decides which of the buttons is shown.
    document.documentElement.dataset.key = key === '' ? 'none' : key === sampleKey() ? 'sample' : 'stored';
  };
  form.addEventListener('submit', (event) => event.preventDefault());
  input.addEventListener('input', () => saveKey(input.value));
  input.addEventListener('focus', () => {
    input.type = 'text';
  });
  input.addEventListener('blur', () => {
    input.type = 'password';
  });
  document.querySelector('#key-sample')?.addEventListener('click', () => saveKey(sampleKey()));
  document.querySelector('#key-forget')?.addEventListener('click', () => saveKey(''));
  onKeyChange(show);
  show();
}

function chosenTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

function choose(theme: Theme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem('tapegraph-theme');
  } else {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('tapegraph-theme', theme);
  }
  // Charts draw their own colours, so they listen to this event.
  document.dispatchEvent(new CustomEvent('tapegraph-theme-changed'));
}

function showThemeSwitch(): void {
  const button = document.querySelector<HTMLButtonElement>('#theme-switch');
  if (!button) return;
  const show = () => {
    const theme = chosenTheme();
    button.textContent = signs[theme];
    button.title = `Theme: ${theme}`;
    button.setAttribute('aria-label', `Theme: ${theme}. Change`);
  };
  button.addEventListener('click', () => {
    choose(themes[(themes.indexOf(chosenTheme()) + 1) % themes.length]!);
    show();
  });
  show();
}

showKeyField();
showThemeSwitch();
followMarketLoading();
