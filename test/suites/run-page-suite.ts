import { after } from "node:test";
import { shareBrowser } from "../fixtures/open-browser.ts";
import { runServiceSuite } from "./run-service-suite.ts";

/** Runs the test files of a suite in this process, and their pages in one browser. */
export function runPageSuite(name: string): void {
  const shared = shareBrowser();
  after(() => shared[Symbol.asyncDispose]());
  runServiceSuite(name);
}
