// Runs before the page is drawn, so that nothing flashes or moves. Sets the theme that was chosen, or else the
// system's, and whether a key is stored, the sample market's or another. Without scripts the page has no data-key.
{
  const { dataset } = document.documentElement;
  const chosen = localStorage.getItem('tapegraph-theme');
  if (chosen === 'light' || chosen === 'dark') dataset.theme = chosen;
  const { sampleKey } = document.currentScript!.dataset;
  const key = localStorage.getItem('tapegraph-key');
  dataset.key = !key ? 'none' : key === sampleKey ? 'sample' : 'stored';
}
