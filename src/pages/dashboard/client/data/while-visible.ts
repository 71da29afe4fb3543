// Live data pauses while nobody looks at the page.
import type { LiveLink, LiveOperation, LiveParts } from './live-link.ts';

/** True if nobody can see the page, and what reports a change. */
export interface Visibility {
  isHidden: () => boolean;
  onChange: (heard: () => void) => () => void;
}

/** A page that is hidden for less than this goes on, ms. */
const hiddenForMs = 5000;

/**
 * Links that pause while the page is hidden; when one goes on, `onReturn` is called, since something was missed.
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
