/** JSON formatted for reading: values that fit on a line share one, and lists show the number of omitted items. */
export function jsonText(value: unknown, omitted: Readonly<Record<string, number>> = {}, width = 78): string {
  return written(value, '', 0, { omitted, width });
}

interface Form {
  omitted: Readonly<Record<string, number>>;
  width: number;
}

/** The parts of a list or an object: its opening, its items with their paths, its end. */
function partsOf(value: object, path: string, { omitted }: Form) {
  const inside = (key: string | number) => (path === '' ? String(key) : `${path}.${key}`);
  if (!Array.isArray(value)) {
    const items = Object.entries(value).map(([key, item]) => ({
      label: `${JSON.stringify(key)}: `,
      item,
      path: inside(key),
    }));
    return { open: '{', close: '}', items, more: null };
  }
  const items = value.map((item, index) => ({ label: '', item, path: inside(index) }));
  return { open: '[', close: ']', items, more: omitted[path] === undefined ? null : `… ${omitted[path]} more` };
}

function written(value: unknown, path: string, indent: number, form: Form): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const { open, close, items, more } = partsOf(value, path, form);
  if (items.length === 0) return open + close;
  const lines = [
    ...items.map(({ label, item, path: at }) => label + written(item, at, indent + 2, form)),
    ...(more === null ? [] : [more]),
  ];
  const flat = `${open} ${lines.join(', ')} ${close}`;
  if (!flat.includes('\n') && indent + flat.length <= form.width) return flat;
  const margin = ' '.repeat(indent + 2);
  return `${open}\n${lines.map((line) => margin + line).join(',\n')}\n${' '.repeat(indent)}${close}`;
}
