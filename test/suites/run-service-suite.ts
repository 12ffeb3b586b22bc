import { forgetSecrets } from "../spec/secrets.ts";
import { runSuite } from "./run-suite.ts";

/** Runs the test files of a suite in this process, each of which opens services of its own. */
export function runServiceSuite(name: string): void {
  runSuite(name, forgetSecrets);
}
