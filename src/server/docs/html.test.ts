import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { html, type Html } from "./html.ts";
import { inline, prose } from "./prose.ts";

test("html escapes every value that is not HTML itself", () => {
  const rows: [found: Html, expected: string][] = [
    [html`<p>${"<script>"}</p>`, "<p>&lt;script&gt;</p>"],
    [html`<a title="${'"><b>'}">`, '<a title="&quot;&gt;&lt;b&gt;">'],
    [html`${html`<b>${"&"}</b>`}${["<", html`<i>`, [1, undefined]]}`, "<b>&amp;</b>&lt;<i>1"],
  ];
  for (const [found, expected] of rows) assert.equal(found.toString(), expected);
});

test("html keeps values inside element content and quoted attributes", () => {
  const texts = fc.oneof(fc.string(), fc.constantFrom("<!--", "]]>", "</p>", "`", "&lt;", "\"'"));
  fc.assert(
    fc.property(texts, (text) => {
      const made = html`<p title="${text}">${text}</p>`.toString();
      const [, title = "", content = ""] = /^<p title="([^"<>]*)">([^<>]*)<\/p>$/.exec(made) ?? [];
      assert.equal(unescaped(title), text);
      assert.equal(unescaped(content), text);
    }),
  );
});

function unescaped(text: string): string {
  const chars: Record<string, string> = {
    lt: "<",
    gt: ">",
    quot: '"',
    "#39": "'",
    "#96": "`",
    amp: "&",
  };
  return text.replaceAll(/&([a-z]+|#\d+);/g, (_, name: string) => chars[name] ?? "?");
}

test("prose() creates paragraphs and code, and nothing else", () => {
  assert.equal(
    prose("One `a<b` two.\n\n<b>Three</b>").join(""),
    "<p>One <code>a&lt;b</code> two.</p><p>&lt;b&gt;Three&lt;/b&gt;</p>",
  );
  assert.deepEqual(prose(undefined), []);
  assert.equal(inline("a ` b").join(""), "a &#96; b");
});
