// Every view has a URL: #/VIEW/PART/PART?KEY=VALUE. Parts and values are percent-encoded.

export interface Place { view: string; parts: string[]; query: URLSearchParams }

export function place(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const parts = path.split('/').filter(Boolean).map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  return { view: parts[0] ?? 'map', parts: parts.slice(1), query: new URLSearchParams(query) };
}

export function href(view: string, parts: (string | number)[] = [], query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) search.set(key, value);
  const text = search.toString();
  return '#/' + [view, ...parts.map((part) => encodeURIComponent(part))].join('/') + (text ? '?' + text : '');
}

/** Changes the query of this view without a step in the history. */
export function amend(query: Record<string, string | undefined>): void {
  const here = place();
  for (const [key, value] of Object.entries(query)) {
    if (value) here.query.set(key, value);
    else here.query.delete(key);
  }
  history.replaceState(null, '', href(here.view, here.parts, Object.fromEntries(here.query)));
}
