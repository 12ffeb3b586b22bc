import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { publicKeyProblems as problems } from "../text/public-key-problems.ts";
import { publicKeyProblem } from "./public-key-problem.ts";

const pairs = [
  generateKeyPairSync("ed25519"),
  generateKeyPairSync("ec", { namedCurve: "P-256" }),
  generateKeyPairSync("rsa", { modulusLength: 2048 }),
];

test("publicKeyProblem() accepts public keys of every kind", () => {
  for (const { publicKey } of pairs) {
    const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
    const jwk = JSON.stringify(publicKey.export({ format: "jwk" }));
    for (const text of [pem, ` \n${pem}\n`, jwk, ` ${jwk}`]) {
      assert.equal(publicKeyProblem(text), undefined);
    }
  }
});

test("publicKeyProblem() rejects private keys in every form, complete or truncated", () => {
  for (const { privateKey } of pairs) {
    const pem = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    const jwk = JSON.stringify(privateKey.export({ format: "jwk" }));
    const set = `{"keys": [${jwk}]}`;
    for (const text of [
      pem,
      pem.slice(0, 80),
      `x\n${pem}`,
      jwk,
      set,
      jwk.slice(0, -1),
      `[${jwk}]`,
    ]) {
      assert.equal(publicKeyProblem(text), problems.private, text.slice(0, 12));
    }
  }
  const [, ec] = pairs;
  const sec1 = ec?.privateKey.export({ format: "pem", type: "sec1" }).toString() ?? "";
  assert.equal(publicKeyProblem(sec1), problems.private);
  assert.equal(publicKeyProblem('{"kty":"oct","k":"c2VjcmV0"}'), problems.private);
});

test("publicKeyProblem() explains why any other text is not a public key", () => {
  const rows: [text: string, problem: object][] = [
    ["", problems.empty],
    ["  \n", problems.empty],
    ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA anna@vik", problems.ssh],
    ["-----BEGIN CERTIFICATE-----\nMIIB", problems.certificate],
    ['{"keys": []}', problems.set],
    ["[]", problems.set],
    ['{"kty": "OKP", "crv": "Ed', problems.json],
    ["-----BEGIN PUBLIC KEY-----\nMCow", problems.cut],
    ["Þetta er lykillinn minn", problems.unknown],
    ["a".repeat(10_001), problems.tooLong],
  ];
  for (const [text, problem] of rows) assert.equal(publicKeyProblem(text), problem, text);
});
