/** How long the browser is given to read what it saves, in ms: it does not tell when it has. */
const readMs = 60_000;

/** Saves what the page has as a file, in the browser's downloads. */
export function saveFile(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  saveAddress(address, name);
  setTimeout(() => URL.revokeObjectURL(address), readMs);
}

/** Saves what is at an address of the service. */
export function saveAddress(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  // Where the bytes are in a bucket the browser may show them instead: not in place of this page.
  link.target = "_blank";
  link.rel = "noopener";
  link.click();
}
