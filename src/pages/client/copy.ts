// What every page's parts may carry: buttons that copy, what needs scripts, and the origin as the reader sees it.

async function copy(button: HTMLButtonElement): Promise<void> {
  // Of several, as behind tabs, the one that is seen.
  const source = [...document.querySelectorAll<HTMLElement>(button.dataset.copy ?? '')].find(
    ({ offsetParent }) => offsetParent !== null,
  );
  if (!source) return;
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    // No clipboard without https or permission: the text is selected, to be copied by hand.
    getSelection()?.selectAllChildren(source);
    button.textContent = 'Selected';
  }
  setTimeout(() => {
    button.textContent = said;
  }, 1500);
}

/** Wakes the parts that need scripts, and corrects the origin in the commands. */
export function wakeParts(root: ParentNode = document): void {
  for (const element of root.querySelectorAll<HTMLElement>('[data-needs-script]')) element.hidden = false;
  for (const element of root.querySelectorAll('[data-origin]')) element.textContent = location.origin;
}

document.addEventListener('click', (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>('button[data-copy]');
  if (button) void copy(button);
});
wakeParts();
