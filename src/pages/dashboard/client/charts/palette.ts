import { useEffect, useState } from 'preact/hooks';

// The colours of charts.

/** Variables of the style sheet, without their dashes. */
const colourNames = [
  'bg',
  'panel',
  'raised',
  'text',
  'muted',
  'border',
  'accent',
  'call',
  'put',
  'up',
  'down',
  'warn',
] as const;

/** Number of line colours without a meaning. */
export const lineColours = 8;

export interface Palette extends Record<(typeof colourNames)[number], string> {
  /** `lineColours` colours that are distinguishable on the panel's background. */
  lines: readonly string[];
  /** Font of the page. */
  font: string;
  /** False if the reader prefers reduced motion. */
  motion: boolean;
}

/** A palette without colours, used before there is a style sheet. */
export const noPalette: Palette = {
  ...(Object.fromEntries(colourNames.map((name) => [name, ''])) as Record<(typeof colourNames)[number], string>),
  lines: [],
  font: '',
  motion: false,
};

/** A colour with another opacity, 0 to 1; `colour` is #rrggbb, or #rgb as minified style sheets have it. */
export function faded(colour: string, opacity: number): string {
  const long = colour.length === 4 ? colour.replace(/[\da-f]/gi, '$&$&') : colour;
  return `${long}${Math.round(opacity * 255)
    .toString(16)
    .padStart(2, '0')}`;
}

// The palette of the style sheet, read again when the theme changes.

/** Reads the current palette. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colours = Object.fromEntries(colourNames.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return {
    ...(colours as Record<(typeof colourNames)[number], string>),
    lines: Array.from({ length: lineColours }, (_, i) => style.getPropertyValue(`--line-${i}`).trim()),
    font: getComputedStyle(document.body).fontFamily,
    motion: !matchMedia('(prefers-reduced-motion: reduce)').matches,
  };
}

/** The palette: initially `first`, then the result of `read` whenever the theme or the system's preference changes. */
export function usePalette(first: Palette, read: () => Palette): Palette {
  const [palette, setPalette] = useState(first);
  useEffect(() => {
    const look = () => setPalette(read());
    const choice = matchMedia('(prefers-color-scheme: dark)');
    const motion = matchMedia('(prefers-reduced-motion: reduce)');
    document.addEventListener('tapegraph-theme-changed', look);
    choice.addEventListener('change', look);
    motion.addEventListener('change', look);
    return () => {
      document.removeEventListener('tapegraph-theme-changed', look);
      choice.removeEventListener('change', look);
      motion.removeEventListener('change', look);
    };
  }, []);
  return palette;
}
