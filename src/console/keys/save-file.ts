/** Has the browser save a text as a file. Nothing is sent: the file is made here. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Browsers read it a while after the press, when they ask where to save.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
