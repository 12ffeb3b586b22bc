// Prints the test files that `node --test` is to run, for the npm script "test": see
// test/suites/suites.ts.
import process from "node:process";
import { everyTestFile } from "../test/suites/suites.ts";

process.stdout.write(`${everyTestFile().join("\n")}\n`);
