/**
 * How long the browser has to read the file, in ms. The browser does not report when it has
 * finished.
 */
const readMs = 60_000;

/** Saves data from the page as a file in the browser's downloads. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  saveUrl(url, name);
  setTimeout(() => URL.revokeObjectURL(url), readMs);
}

/** Saves the file at a URL of the service. */
export function saveUrl(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  // A browser may show a file from a bucket instead of saving it. A new tab then keeps this page
  // open.
  link.target = "_blank";
  link.rel = "noopener";
  link.click();
}
