// The palette of the style sheet, read again when the theme changes.
import { useEffect, useState } from 'preact/hooks';
import { colourNames, lineColours, type Palette } from './palette.ts';

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
