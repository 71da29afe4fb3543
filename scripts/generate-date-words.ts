// Writes the words of written dates, src/intake/tape/csv/written-date-words.json, as Intl prints them; with --check
// only says whether the file is up to date.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const file = join(root, 'src/intake/tape/csv/written-date-words.json');

/** The languages of docs/vendor-files.md by country: it changes words, the order of digits and zone names. */
const locales = [
  ...['en-US', 'en-AU', 'en-CA', 'en-GB', 'en-HK', 'en-IE', 'en-IN', 'en-MY', 'en-NZ', 'en-PH', 'en-SG'],
  ...['en-ZA', 'de-AT', 'de-CH', 'de-DE', 'fr-BE', 'fr-CA', 'fr-CH', 'fr-FR', 'es-AR', 'es-CL', 'es-CO', 'es-ES'],
  ...['es-MX', 'es-PE', 'es-US', 'es-UY', 'es-VE', 'it-CH', 'it-IT', 'nl-BE', 'nl-NL', 'pt-BR', 'pt-PT', 'sv-FI'],
  ...['sv-SE', 'da-DK', 'ru-RU', 'pl-PL', 'cs-CZ', 'tr-TR', 'fi-FI', 'ja-JP', 'zh-CN', 'zh-HK', 'zh-SG', 'zh-TW'],
  'ko-KR',
];
/** A zone's name is listed with the offsets that it had in these years. */
const years = Array.from({ length: 23 }, (_, i) => 2005 + i);
const year = 2023;

type Format = Intl.DateTimeFormatOptions;
type PartType = Intl.DateTimeFormatPartTypes;

function partsOf(locale: string, format: Format, at: number): Intl.DateTimeFormatPart[] {
  return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...format }).formatToParts(at);
}

function wordOf(locale: string, format: Format, at: number, type: PartType): string {
  return partsOf(locale, format, at).find((part) => part.type === type)?.value ?? '';
}

/** Each word once, in order; digits are no words, and a final point is not listed. */
function listed(words: readonly string[]): string {
  const plain = words.map((word) => word.toLowerCase().replace(/\.$/, ''));
  return [...new Set(plain)].filter((word) => word !== '' && !/\d/.test(word)).join(', ');
}

function monthsOf(locale: string): string {
  const forms = (['long', 'short'] as const).flatMap((month): Format[] => [{ month, day: 'numeric' }, { month }]);
  const months = Array.from({ length: 12 }, (_, index) =>
    listed(forms.map((form) => wordOf(locale, form, Date.UTC(year, index, 15), 'month'))),
  );
  return months.every((words) => words === '') ? '' : months.join(' | ');
}

/** Sunday first: 2023 began with one. */
function weekdaysOf(locale: string): string {
  const forms = (['long', 'short'] as const).flatMap((weekday): Format[] => [
    { weekday, day: 'numeric', month: 'long', year: 'numeric' },
    { weekday },
  ]);
  return Array.from({ length: 7 }, (_, index) =>
    listed(forms.map((form) => wordOf(locale, form, Date.UTC(year, 0, 1 + index), 'weekday'))),
  ).join(' | ');
}

/** Minutes from UTC at an instant. */
function offsetOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (at) => {
    const text = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value;
    const [, sign, hours, minutes] = /^GMT(?:([+-])(\d{2}):(\d{2}))?$/.exec(text) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
  };
}

const offsets = Intl.supportedValuesOf('timeZone').map((timeZone) => ({ timeZone, offset: offsetOf(timeZone) }));

/** Zone names and their offset in minutes. A name that had several offsets is listed with each. */
function zonesOf(locale: string): string {
  const zones = new Set<string>();
  for (const { timeZone, offset } of offsets) {
    const format = new Intl.DateTimeFormat(locale, { timeZone, hour: 'numeric', timeZoneName: 'short' });
    for (const at of years.flatMap((y) => [Date.UTC(y, 0, 5, 12), Date.UTC(y, 6, 5, 12)])) {
      const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value;
      if (!/^(?:GMT|UTC)(?:$|[+\u2212-])/.test(name)) zones.add(`${name} ${offset(at)}`);
    }
  }
  return [...zones].sort().join(', ');
}

const dateForms: Format[] = [
  ...(['full', 'long', 'medium', 'short'] as const).map((dateStyle): Format => ({ dateStyle, timeStyle: 'long' })),
  ...(['long', 'short', 'numeric', '2-digit'] as const).map(
    (month): Format => ({ year: 'numeric', month, day: 'numeric', hour: 'numeric', minute: '2-digit' }),
  ),
];

/** Words of the first half of the day, and of the second: as they are printed, with their points and spaces. */
function halfDaysOf(locale: string): string {
  const halves: [Set<string>, Set<string>] = [new Set(), new Set()];
  for (const form of dateForms)
    for (let hour = 0; hour < 24; hour++) {
      const word = wordOf(locale, { ...form, hour12: true }, Date.UTC(year, 0, 1, hour, 31), 'dayPeriod');
      halves[hour < 12 ? 0 : 1].add(word.replace(/\s/g, ' '));
    }
  return halves.map((words) => [...words].join(', ')).join(' | ');
}

/** Words that only connect: `at`, `de`, `kl.`. */
function linksOf(locale: string): string {
  const literals = dateForms.flatMap((form) =>
    [0, 13].flatMap((hour) => partsOf(locale, form, Date.UTC(year, 0, 5, hour, 31))),
  );
  const words = literals.filter(({ type }) => type === 'literal').flatMap(({ value }) => value.match(/\p{L}+/gu) ?? []);
  // Text directly after digits belongs to them: 2023年, 14 h 31.
  return listed(words.filter((word) => !/^(?:[年月日时時分秒년월일시분초]|h|min|s)$/.test(word)));
}

/** Order and separator of a date in digits in the locale: `dmy/`. */
function digitsOf(locale: string): string {
  const orders = dateForms.flatMap((form) => {
    const text = partsOf(locale, form, Date.UTC(year, 0, 5, 13, 31))
      .map(
        ({ type, value }) => ({ year: 'y', month: /^\d+$/.test(value) ? 'm' : '', day: 'd' })[type as 'day'] ?? value,
      )
      .join('');
    const [, first, separator, second, third] = /([ymd])([/.-]) ?([ymd])\2 ?([ymd])/.exec(text) ?? [];
    return first === undefined ? [] : `${first}${second}${third}${separator}`;
  });
  return [...new Set(orders)].join(', ');
}

function generated(): string {
  const words = Object.fromEntries(
    locales.map((locale) => [
      locale,
      {
        months: monthsOf(locale),
        weekdays: weekdaysOf(locale),
        halfDays: halfDaysOf(locale),
        links: linksOf(locale),
        digits: digitsOf(locale),
        zones: zonesOf(locale),
      },
    ]),
  );
  const text = JSON.stringify(words);
  const biome = join(root, 'node_modules/.bin/biome');
  const formatted = spawnSync(biome, ['format', `--stdin-file-path=${file}`], {
    cwd: root,
    input: text,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (formatted.status !== 0) throw new Error(formatted.stderr);
  return formatted.stdout;
}

const text = generated();
if (process.argv.includes('--check')) {
  const committed = existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\r\n', '\n') : '';
  if (committed !== text) {
    console.error('written-date-words.json differs from Intl: npm run words makes it anew');
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, text);
}
