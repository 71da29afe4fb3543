import { type Html, html } from '../html.ts';

/** The button that opens the search. It requires scripts. */
export const searchButton: Html = html`<button type="button" id="search-open" class="search-open" aria-haspopup="dialog" aria-keyshortcuts="/" data-needs-script>Search <kbd aria-hidden="true">/</kbd></button>`;

/** The search over everything below `/docs`; `client/search.ts` fills it from the index at this address. */
export const searchDialog = (
  index: string,
): Html => html`<dialog id="search" class="search" data-index="${index}" aria-label="Search the documentation">
<form role="search" autocomplete="off">
<input id="search-input" type="search" placeholder="Routes, parameters, topics, guides" aria-label="Search the documentation" aria-controls="search-found" spellcheck="false">
<button type="button" class="quiet" id="search-close">Close</button>
</form>
<p id="search-said" class="muted" role="status"></p>
<ul id="search-found"></ul>
<p class="search-keys muted"><kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> opens, <kbd>Esc</kbd> closes</p>
</dialog>`;
