import { runSuite } from "./run-suite.ts";

runSuite("jobs-worker");
