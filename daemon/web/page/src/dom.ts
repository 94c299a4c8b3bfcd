// Elements from data. Whatever a node calls itself goes through text nodes and attributes only, never through markup.

type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

const svgTags = new Set(['svg', 'path', 'circle', 'rect', 'line', 'g']);

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props?: Props | null,
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K];
export function h(tag: string, props?: Props | null, ...children: (Child | Child[])[]): Element;
export function h(tag: string, props?: Props | null, ...children: (Child | Child[])[]): Element {
  const element = svgTags.has(tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children.flat());
  return element;
}

export function append(parent: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function fill(parent: Element, ...children: (Child | Child[])[]): void {
  parent.replaceChildren();
  append(parent, children.flat());
}

/** Sets an element's text only when it differs, so that what is selected stays selected. */
export function put(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
