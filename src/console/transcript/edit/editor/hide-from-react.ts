/**
 * Hides an editable element from React. For each update of the page, React walks through all of an
 * editable element that has the focus, to restore its selection, which takes several ms in a long
 * text. Nothing of React is in this one, and ProseMirror keeps its selection; so the property that
 * React reads says what the element inherits. The attribute, which makes it editable, stays.
 */
export function hideFromReact(dom: HTMLElement): void {
  Object.defineProperty(dom, "contentEditable", { value: "inherit", configurable: true });
}
