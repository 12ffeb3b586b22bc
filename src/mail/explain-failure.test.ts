import assert from "node:assert/strict";
import { test } from "node:test";
import { explainFailure, type MailProblem } from "./explain-failure.ts";

const errorOf = (fields: object, message = "x") => Object.assign(new Error(message), fields);

test("only a refused recipient or message ends a mail, with what the server said", () => {
  const rows: [fields: object, problem: MailProblem, isFinal: boolean][] = [
    [{ code: "EENVELOPE", command: "RCPT TO", responseCode: 550 }, "RECIPIENT_REFUSED", true],
    [{ code: "EENVELOPE", command: "RCPT TO", responseCode: 450 }, "POSTPONED", false],
    [{ code: "EMESSAGE", command: "DATA", responseCode: 554 }, "MESSAGE_REFUSED", true],
    [{ code: "EENVELOPE", command: "MAIL FROM", responseCode: 553 }, "SENDER_REFUSED", false],
    [{ code: "EENVELOPE", command: "MAIL FROM", responseCode: 530 }, "SIGN_IN_REFUSED", false],
    [{ code: "EAUTH", command: "AUTH PLAIN", responseCode: 535 }, "SIGN_IN_REFUSED", false],
    [{ code: "ETLS", command: "STARTTLS", responseCode: 502 }, "NOT_ENCRYPTED", false],
    [{ code: "ETIMEDOUT", command: "CONN" }, "NO_ANSWER", false],
    [{ code: "ESOCKET", command: "CONN" }, "NO_ANSWER", false],
    [{}, "INTERNAL", false],
  ];
  for (const [fields, problem, isFinal] of rows) {
    const response = "550 5.1.1 no\r\n\u001B[31msuch   user";
    const failure = explainFailure(errorOf({ ...fields, response }), true);
    assert.deepEqual(
      [failure.problem, failure.isFinal],
      [problem, isFinal],
      JSON.stringify(fields),
    );
    assert.equal(failure.response, isFinal ? "550 5.1.1 no [31msuch user" : null);
    // Without a reply, the server may have the message.
    assert.equal(failure.isUnknown, !("responseCode" in fields));
  }
  const certificate = errorOf({ code: "ESOCKET" }, "self-signed certificate");
  assert.equal(explainFailure(certificate, false).problem, "NOT_ENCRYPTED");
  const refused = explainFailure(errorOf({ code: "ECONNREFUSED" }), false);
  assert.deepEqual([refused.problem, refused.isUnknown], ["NOT_REACHED", false]);
});

test("a failure that has no explanation keeps the code of the library, and never a text", () => {
  const rows: [fields: object, code: string | undefined][] = [
    [{ code: "ECONFIG" }, "ECONFIG"],
    [{ code: "to anna@example.is" }, "UNKNOWN"],
    [{ code: 5 }, "UNKNOWN"],
    [{}, "UNKNOWN"],
    // The problem says it all.
    [{ code: "ECONNREFUSED" }, undefined],
  ];
  for (const [fields, code] of rows) {
    assert.equal(explainFailure(errorOf(fields), false).code, code, JSON.stringify(fields));
  }
});
