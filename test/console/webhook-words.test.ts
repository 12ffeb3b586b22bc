// The console's words for the service's English messages about deliveries.
import assert from "node:assert/strict";
import { test } from "node:test";
import { webhookWords } from "../../src/console/text/webhook-words.ts";
import { notPublic } from "../../src/media/media-url.ts";
import { explainSending } from "../../src/webhooks/explain-sending.ts";

/** Error codes of Node, OpenSSL and undici. */
const codes = [
  "ENOTFOUND EAI_AGAIN ECONNREFUSED ECONNRESET EHOSTUNREACH UND_ERR_HEADERS_OVERFLOW",
  "CERT_HAS_EXPIRED EPROTO HPE_INVALID_CONSTANT",
].flatMap((line) => line.split(" "));

const messages = [
  ...codes.map((code) => explainSending(Object.assign(new Error(code), { code }))),
  notPublic,
  "the receiver answered 500 Internal Server Error",
  "the receiver answered 599",
  "the receiver answered 301 Moved Permanently: redirects are not followed",
  "the receiver did not answer within 15 s",
  "the webhook was disabled until its day was over",
  "the service failed to send it; the log of its operator has the reason",
  "the URL has a port other than 80 and 443",
  "nothing was accepted for 3 days; the last time the receiver answered 503 Service Unavailable",
];

test("each message about a delivery has the console's words in both languages", () => {
  for (const message of messages) {
    const { is, en } = webhookWords(message);
    assert.ok(is !== message && is !== en, message);
  }
});

test("webhookWords() keeps the receiver's status, and frames an unknown message", () => {
  assert.deepEqual(webhookWords("the receiver answered 301 Found: redirects are not followed"), {
    is: "svarið var 301 Found, en framsendingum er ekki fylgt",
    en: "the answer was 301 Found, and redirects are not followed",
  });
  const { is, detail } = webhookWords(
    "nothing was accepted for 3 days; the last time something new",
  );
  assert.equal(is, "engin skilaboð komust til skila í 3 daga; síðast: ástæðan er óþekkt:");
  assert.equal(detail, "something new");
});
