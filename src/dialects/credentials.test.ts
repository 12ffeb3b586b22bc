import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceError } from "../std/service-error.ts";
import { shownKey } from "./credentials.ts";

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

test("shownKey() finds the key however a client sends it", () => {
  const rows = [
    [{ authorization: "Bearer key" }, "key"],
    [{ authorization: "bearer   key " }, "key"],
    [{ authorization: "Token key" }, "key"],
    [{ authorization: "key" }, "key"],
    [{ authorization: basic("anyone:key") }, "key"],
    [{ authorization: basic("key:") }, "key"],
    [{ authorization: basic("user:a:b") }, "a:b"],
    [{ "api-key": "key" }, "key"],
    [{ "x-api-key": " key " }, "key"],
    [{ authorization: "Bearer key", "api-key": "key" }, "key"],
  ] as const;
  for (const [headers, key] of rows) {
    assert.equal(shownKey(headers).get("authorization"), `Bearer ${key}`, JSON.stringify(headers));
  }
});

test("shownKey() finds no key where there is none", () => {
  const rows = [
    {},
    { authorization: "" },
    { authorization: "Bearer" },
    { authorization: "Digest username=key" },
    { authorization: basic("") },
    { authorization: basic("anyone:ke y\n") },
    { "api-key": "" },
  ];
  for (const headers of rows) {
    assert.equal(shownKey(headers).get("authorization"), null, JSON.stringify(headers));
  }
});

test("shownKey() refuses two different keys", () => {
  assert.throws(
    () => shownKey({ authorization: "Bearer one", "api-key": "two" }),
    (error) => error instanceof ServiceError && error.reason === "SEVERAL_TOKENS",
  );
});
