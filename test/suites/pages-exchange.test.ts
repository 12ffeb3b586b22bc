import { runPageSuite } from "./run-page-suite.ts";

runPageSuite("pages-exchange");
