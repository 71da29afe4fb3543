// Parts that every page may carry: buttons that copy, and the origin as the reader sees it.

/**
 * Copies `text`, and says so on the button. Without a clipboard the text is selected, where it is shown, to be copied
 * by hand.
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
  // If there are several elements, as behind tabs, the visible one.
  const source = [...document.querySelectorAll<HTMLElement>(button.dataset.copy ?? '')].find(
    ({ offsetParent }) => offsetParent !== null,
  );
  if (source) void copyText(button, source, source.textContent ?? '');
}

document.addEventListener('click', (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>('button[data-copy]');
  if (button) copy(button);
});
// The commands name the origin as the reader sees it.
for (const element of document.querySelectorAll('[data-origin]')) element.textContent = location.origin;
