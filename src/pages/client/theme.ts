// Runs before the page is drawn, so that nothing flashes: the theme that was chosen, or the system's where none was.
{
  const chosen = localStorage.getItem('tapegraph-theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}
