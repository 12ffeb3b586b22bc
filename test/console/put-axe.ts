import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Puts axe into a page, where it stays until another page is loaded. */
export async function putAxe(page: Page): Promise<void> {
  const isThere = await page.evaluate<boolean>("typeof axe === 'object'");
  if (!isThere) await page.evaluate(source);
}
