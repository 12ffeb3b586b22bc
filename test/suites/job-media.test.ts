import { runServiceSuite } from "./run-service-suite.ts";

runServiceSuite("job-media");
