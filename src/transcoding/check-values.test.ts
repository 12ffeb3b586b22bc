import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../std/service-error.ts";
import { checkValues, jsonValuesMax } from "./check-values.ts";

test("checkValues() counts the commas of JSON, not those of its texts", () => {
  const commas = ",".repeat(jsonValuesMax);
  const rows: [json: string, isRefused: boolean][] = [
    ["", false],
    [`["${commas}"]`, false],
    [String.raw`["\"${commas}\\"]`, false],
    [String.raw`["\\"${commas}]`, true],
    [`[${"1,".repeat(jsonValuesMax - 1)}1]`, false],
    [`[${"1,".repeat(jsonValuesMax)}1]`, true],
  ];
  for (const [json, isRefused] of rows) {
    const check = () => {
      checkValues(Buffer.from(json), "words");
    };
    if (isRefused) assert.throws(check, ServiceError, json.slice(0, 9));
    else check();
  }
});
