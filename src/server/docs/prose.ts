import { html, type Html } from "./html.ts";

/**
 * Renders text in the form of the contract's comments: paragraphs separated by an empty line, and
 * `code`.
 */
export function prose(text: string | undefined): Html[] {
  if (text === undefined || text === "") return [];
  return text.split(/\n{2,}/).map((paragraph) => html`<p>${inline(paragraph)}</p>`);
}

/** Renders one paragraph without its element. */
export function inline(text: string): Html[] {
  return text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.length > 2 && part.startsWith("`") && part.endsWith("`")
        ? html`<code>${part.slice(1, -1)}</code>`
        : html`${part}`,
    );
}
