// Marks the current section in the contents.

/** Follows scrolling: the route at the top of the window is current in the contents. */
export function followReading(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.contents a[href^="#"]')].map((link) => [
      link.hash.slice(1),
      link,
    ]),
  );
  const visible = new Set<Element>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) visible.add(target);
        else visible.delete(target);
      }
      const [first] = [...visible].sort((one, other) =>
        one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
      );
      if (!first) return;
      for (const [id, link] of links) {
        if (id === first.id) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      }
      // Scrolls only the contents, not the page.
      const link = links.get(first.id)!;
      const contents = link.closest<HTMLElement>('.contents')!;
      if (contents.contains(document.activeElement)) return;
      const top = link.offsetTop - contents.offsetTop;
      if (top < contents.scrollTop || top > contents.scrollTop + contents.clientHeight - 60) {
        contents.scrollTop = top - contents.clientHeight / 2;
      }
    },
    { rootMargin: '-60px 0px -60% 0px' },
  );
  for (const id of links.keys()) {
    const section = document.getElementById(id);
    if (section) observer.observe(section);
  }
}
