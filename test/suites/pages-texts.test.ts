import { runSuite } from "./run-suite.ts";

runSuite("pages-texts");
