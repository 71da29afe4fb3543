// Pauses live data while the page is hidden.
import type { LiveLink, LiveOperation, LiveParts } from './live-link.ts';

/** Visibility of the page, and its change events. */
export interface Visibility {
  isHidden: () => boolean;
  onChange: (heard: () => void) => () => void;
}

/** A page that is hidden for less than this is not paused, ms. */
const hiddenForMs = 5000;

/**
 * Wraps links to pause while the page is hidden. When one resumes, `onReturn` is called, since messages were missed.
 */
export function whileVisible(
  open: (parts: LiveParts) => LiveLink,
  { isHidden, onChange }: Visibility,
): (parts: LiveParts) => LiveLink {
  return (parts) => {
    let link: LiveLink | null = null;
    let operations: readonly LiveOperation[] = [];
    let missed = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const goOn = () => {
      link = open({
        ...parts,
        onState: (state) => {
          parts.onState(state);
          if (state !== 'live' || !missed) return;
          missed = false;
          parts.onReturn();
        },
      });
      link.listen(operations);
    };
    const pause = () => {
      link?.close();
      link = null;
      missed = true;
      parts.onState('off');
    };
    const look = () => {
      clearTimeout(timer);
      if (!isHidden()) {
        if (link === null) goOn();
      } else if (link === null) missed = true;
      else timer = setTimeout(pause, hiddenForMs);
    };
    const forget = onChange(look);
    return {
      listen(next) {
        operations = next;
        if (link !== null) link.listen(next);
        else look();
      },
      close() {
        clearTimeout(timer);
        forget();
        link?.close();
      },
    };
  };
}
