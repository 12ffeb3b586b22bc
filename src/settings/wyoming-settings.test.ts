import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../config.ts";
import { ConfigError } from "../std/setting.ts";

test("HLUST_WYOMING_LISTEN alone is a listener with the first key, for this machine", () => {
  const home = readConfig({ HLUST_DATA: "/srv/hlust", HLUST_WYOMING_LISTEN: "127.0.0.1:10300" });
  assert.deepEqual(home.wyoming, {
    host: "127.0.0.1",
    port: 10_300,
    keyFile: "/srv/hlust/api-key",
    allowFrom: [],
    isAnnounced: false,
  });
});

test("a listener of this machine only is not announced", () => {
  assert.throws(
    () => readConfig({ HLUST_WYOMING_LISTEN: "[::1]:10300", HLUST_WYOMING_ANNOUNCE: "true" }),
    {
      name: "ConfigError",
      message:
        "HLUST_WYOMING_ANNOUNCE is true, but HLUST_WYOMING_LISTEN is [::1]:10300, which other machines cannot reach: set HLUST_WYOMING_LISTEN to an address of the network, such as 0.0.0.0:10300, or HLUST_WYOMING_ANNOUNCE to false",
    },
  );
});

test("invalid settings of Wyoming are refused", () => {
  const rows: [name: string, value: string, problem: RegExp][] = [
    ["HLUST_WYOMING_LISTEN", "10300", /^HLUST_WYOMING_LISTEN must be an address with a port, such/],
    [
      "HLUST_WYOMING_LISTEN",
      "127.0.0.1:65536",
      /^HLUST_WYOMING_LISTEN must be .*, not "127.0.0.1:6/,
    ],
    ["HLUST_WYOMING_LISTEN", "::1:10300", /^HLUST_WYOMING_LISTEN must be an address with a port/],
    [
      "HLUST_WYOMING_LISTEN",
      "0.0.0.0:10300",
      /^HLUST_WYOMING_LISTEN is 0.0.0.0:10300, which .* without a key: set HLUST_WYOMING_ALLOW_FROM/,
    ],
    [
      "HLUST_WYOMING_LISTEN",
      "hlust.example:10300",
      /^HLUST_WYOMING_LISTEN is .* without a key: set/,
    ],
    [
      "HLUST_WYOMING_KEY_FILE",
      "a",
      /^HLUST_WYOMING_KEY_FILE is set, but HLUST_WYOMING_LISTEN is not/,
    ],
    ["HLUST_WYOMING_ALLOW_FROM", "::1", /^HLUST_WYOMING_ALLOW_FROM is set, but HLUST_WYOMING_LIS/],
    [
      "HLUST_WYOMING_ANNOUNCE",
      "true",
      /^HLUST_WYOMING_ANNOUNCE is set, but HLUST_WYOMING_LISTEN is not/,
    ],
    ["HLUST_WYOMING_ANNOUNCE", "Hlust", /^HLUST_WYOMING_ANNOUNCE must be one of true, false, not/],
    ["HLUST_WYOMING_ALLOW_FROM", "home", /^HLUST_WYOMING_ALLOW_FROM: "home" is not a network/],
  ];
  for (const [name, value, problem] of rows) {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) => error instanceof ConfigError && problem.test(error.message),
      `${name}=${value}`,
    );
  }
});
