import { runServiceSuite } from "./run-service-suite.ts";

runServiceSuite("dialects-calls");
