import assert from "node:assert/strict";
import { test } from "node:test";
import { browserName } from "./browser-name.ts";

test("browserName() returns the browser and its operating system", () => {
  const rows = [
    [
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
      "Chrome, Linux",
    ],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0",
      "Edge, Windows",
    ],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
      "Firefox, Windows",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1 Version/19.1 Mobile/15E148 Safari/604.1",
      "Safari, iOS",
    ],
    [
      "Mozilla/5.0 (Linux; Android 16; K) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36",
      "Chrome, Android",
    ],
    ["curl/8.14", ""],
    ["", ""],
  ] as const;
  for (const [agent, name] of rows) assert.equal(browserName(agent), name, agent);
});
