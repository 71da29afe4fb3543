// The field above the contents: `/` goes there, arrows walk the routes found, Enter opens one, Escape ends it.

const links = () => [...document.querySelectorAll<HTMLAnchorElement>('.contents a[data-words]')];
const isShown = (link: HTMLAnchorElement) => !link.closest<HTMLElement>('li')!.hidden;

function narrow(text: string): void {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const link of links()) {
    link.closest('li')!.hidden = !words.every((word) => link.dataset.words!.includes(word));
  }
  for (const group of document.querySelectorAll<HTMLElement>('.nav-group')) {
    group.hidden = ![...group.querySelectorAll('li')].some((item) => !item.hidden);
  }
  document.querySelector<HTMLElement>('.places')!.hidden = words.length > 0;
  document.querySelector<HTMLElement>('#no-route')!.hidden = links().some(isShown);
}

function walk(event: KeyboardEvent, input: HTMLInputElement): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  const stops: HTMLElement[] = [input, ...links().filter(isShown)];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  event.preventDefault();
  stops[Math.max(0, Math.min(stops.length - 1, at + step))]!.focus();
}

/** Lets routes be found by typing. */
export function letFind(): void {
  const input = document.querySelector<HTMLInputElement>('#filter');
  if (!input) return;
  input.addEventListener('input', () => narrow(input.value));
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') links().find(isShown)?.click();
    if (event.key === 'Escape') {
      input.value = '';
      narrow('');
      input.blur();
    }
  });
  document.querySelector<HTMLElement>('.contents')!.addEventListener('keydown', (event) => walk(event, input));
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.key !== '/' || event.ctrlKey || event.metaKey || target.closest('input, textarea, select')) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}
