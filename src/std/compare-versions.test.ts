import assert from "node:assert/strict";
import { test } from "node:test";
import { compareVersions } from "./compare-versions.ts";

test("compareVersions() orders releases and pre-releases", () => {
  const ordered = [
    "0.1.0-rc.2",
    "0.1.0-rc.10",
    "0.1.0",
    "0.1.1",
    "0.2.0-alpha",
    "0.2.0-alpha.1",
    "0.2.0-beta",
    "0.2.0",
    "0.10.0",
    "1.0.0",
  ];
  for (const [at, one] of ordered.entries()) {
    for (const [place, other] of ordered.entries()) {
      const words = `${one} and ${other}`;
      assert.equal(Math.sign(compareVersions(one, other)), Math.sign(at - place), words);
    }
  }
});

test("compareVersions() ignores the build", () => {
  assert.equal(compareVersions("0.1.0+7", "0.1.0+8"), 0);
});
