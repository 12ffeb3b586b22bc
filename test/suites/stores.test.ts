import { runSuite } from "./run-suite.ts";

runSuite("stores");
