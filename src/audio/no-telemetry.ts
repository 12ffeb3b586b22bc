import process from "node:process";

// A module of its own: imports are evaluated before the code of the module that has them.
process.env["ORT_DISABLE_TELEMETRY"] = "1";
