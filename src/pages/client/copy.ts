// Parts of every page: copy buttons, and the origin of the address bar.

/**
 * Copies `text` and confirms it on the button. Without a clipboard the displayed text is selected, to be copied by
 * hand.
 */
export async function copyText(button: HTMLButtonElement, source: HTMLElement, text: string): Promise<void> {
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    // No clipboard without https or permission.
    if (source.textContent !== text) source.textContent = text;
    getSelection()?.selectAllChildren(source);
    button.textContent = 'Selected';
  }
  setTimeout(() => {
    button.textContent = said;
  }, 1500);
}

function copy(button: HTMLButtonElement): void {
  // If there are several elements, as in tabs, the visible one.
  const source = [...document.querySelectorAll<HTMLElement>(button.dataset.copy ?? '')].find(
    ({ offsetParent }) => offsetParent !== null,
  );
  if (source) void copyText(button, source, source.textContent ?? '');
}

document.addEventListener('click', (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>('button[data-copy]');
  if (button) copy(button);
});
// The commands contain the origin of the address bar.
for (const element of document.querySelectorAll('[data-origin]')) element.textContent = location.origin;
