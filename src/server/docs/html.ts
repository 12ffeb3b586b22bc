/** Text that is HTML. Only html`...` creates it. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** The tag for template literals. The literal is HTML; every value in it is text. */
  static of(literals: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
    const parts = literals.flatMap((literal, at) =>
      at < values.length ? [literal, written(values[at])] : [literal],
    );
    return new Html(parts.join(""));
  }

  toString(): string {
    return this.#text;
  }
}

/**
 * A value in a template. Text is escaped, for content and for quoted attributes. The items of a
 * list are joined in order.
 */
export type HtmlValue = string | number | Html | undefined | readonly HtmlValue[];

/**
 * Creates HTML in which every value is escaped unless the value is HTML itself: html`<p
 * title="${title}">${text}</p>`.
 */
export const html = Html.of.bind(Html);

function written(value: HtmlValue): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.toString();
  if (typeof value === "string" || typeof value === "number") return escaped(`${value}`);
  return value.map(written).join("");
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (char) => escapes[char] ?? "");
}
