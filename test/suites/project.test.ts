import { runSuite } from "./run-suite.ts";

runSuite("project");
