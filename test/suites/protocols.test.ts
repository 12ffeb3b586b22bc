import { runSuite } from "./run-suite.ts";

runSuite("protocols");
