import { describe, expect, test } from 'vitest';
import { html, trusted } from '../../src/pages/html.ts';

describe('html', () => {
  test('text cannot become markup, in elements or in quoted attributes', () => {
    const text = `<b title="x">'&`;
    expect(html`<p title="${text}">${text}</p>`.markup).toBe(
      '<p title="&lt;b title=&quot;x&quot;&gt;&#39;&amp;">&lt;b title=&quot;x&quot;&gt;&#39;&amp;</p>',
    );
  });

  test('markup stays, lists are joined, nothing is nothing, and zero is a value', () => {
    expect(html`${[html`<i>${0}</i>`, null, undefined, false, ['a', trusted('<br>')]]}`.markup).toBe('<i>0</i>a<br>');
  });
});
