import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { refusal } from "../../test/fixtures/refusal.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { signingKey } from "../database/signing-key.ts";
import { createLinkRequests, perAddress, perEmail, type RequestLink } from "./link-requests.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
/** The functions of two nodes. */
let nodes: readonly [RequestLink, RequestLink];
before(async () => {
  database = await openTestDatabase();
  const { db } = database;
  const ofNode = async () => createLinkRequests({ db, key: await signingKey(db, "link-request") });
  nodes = [await ofNode(), await ofNode()];
});
after(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.pool.query("truncate link_request, link_request_limit");
});

const asked = (email: string, languageCode = "is") => ({ email, languageCode });
const from = (address: string) => ({ address, requestId: "r-1" });
const rows = async () =>
  await database.db.selectFrom("link_request").selectAll().orderBy("id").execute();
/** Moves the limits into the past, as if this time had gone by. */
const pass = async (interval: string) =>
  await database.pool.query("update link_request_limit set full_at = full_at - $1::interval", [
    interval,
  ]);

/** Makes requests at once, alternately on both nodes, and returns the number that is accepted. */
async function acceptedOf(requests: readonly Parameters<RequestLink>[]): Promise<number> {
  const made = requests.map(async (request, at) => await nodes[at % 2 === 0 ? 0 : 1](...request));
  const results = await Promise.allSettled(made);
  return results.filter(({ status }) => status === "fulfilled").length;
}

describe("the function behind the form for a link", () => {
  it("stores the address in lower case, the language and the origin", async () => {
    await nodes[0](asked("Anna@Example.IS", "en"), { address: "192.0.2.7", requestId: "r-9" });
    const [row, ...others] = await rows();
    assert.ok(row);
    assert.equal(others.length, 0);
    const { email, language, address, request_id } = row;
    assert.deepEqual(
      [email, language, address, request_id],
      ["anna@example.is", "en", "192.0.2.7", "r-9"],
    );
  });

  it("limits an e-mail address, in any letter case, from everywhere, and on all nodes at once", async () => {
    const email = (at: number) => (at % 2 === 0 ? "anna@example.is" : "ANNA@example.is");
    const requests = Array.from({ length: 40 }, (_, at): Parameters<RequestLink> => [
      asked(email(at)),
      from(`192.0.2.${at}`),
    ]);
    assert.equal(await acceptedOf(requests), perEmail.max);
    assert.equal((await rows()).length, perEmail.max);
    const { code, reason, message } = await refusal(nodes[1](...(requests[0] ?? assert.fail())));
    assert.deepEqual([code, reason], ["resource_exhausted", "LINK_REQUESTED_TOO_OFTEN"]);
    assert.ok(!message.includes("anna"), message);
    await nodes[0](asked("bjarni@example.is"), from("192.0.2.1"));
    // A fifth of a day later there is one more.
    await pass("288 minutes");
    assert.equal(await acceptedOf(requests), 1);
    await pass("2 days");
    assert.equal(await acceptedOf(requests), perEmail.max);
  });

  it("limits a network address, and uses up nothing of the e-mail addresses that it names", async () => {
    const requests = (count: number, network: (at: number) => string) =>
      Array.from({ length: count }, (_, at): Parameters<RequestLink> => [
        asked(`${at % 100}@example.is`),
        from(network(at)),
      ]);
    const ofHost = requests(100, (at) => `2001:db8:1:2:${at.toString(16)}::1`);
    assert.equal(await acceptedOf(ofHost), perAddress.max);
    const { code, reason } = await refusal(nodes[0](asked("x@example.is"), from("2001:db8:1:2::")));
    assert.deepEqual([code, reason], ["resource_exhausted", "TOO_MANY_LINK_REQUESTS"]);
    // Those that were refused are not counted for their e-mail addresses.
    const elsewhere = requests(500, (at) => `192.0.2.${at % 250}`);
    assert.equal(await acceptedOf(elsewhere), 100 * perEmail.max - perAddress.max);
    await pass("2 minutes");
    const { reason: emailReason } = await refusal(nodes[0](...(ofHost[0] ?? assert.fail())));
    assert.equal(emailReason, "LINK_REQUESTED_TOO_OFTEN");
  });

  it("says when there is another request, and does not wait for a clock that was set back", async () => {
    const request = [asked("anna@example.is"), from("192.0.2.7")] as const;
    for (let at = 0; at < perEmail.max; at += 1) await nodes[0](...request);
    const { retryAfterMs = 0 } = await refusal(nodes[0](...request));
    const every = perEmail.perMs / perEmail.max;
    assert.ok(retryAfterMs > every - 60_000 && retryAfterMs <= every, `${retryAfterMs}`);
    // As if the limits had been written two days later.
    await pass("-2 days");
    await nodes[0](...request);
  });

  it("refuses a text that is not an address or a language, without repeating it", async () => {
    const wrong = [
      "",
      "anna",
      "anna@",
      "þóra@example.is",
      `${"a".repeat(250)}@a.is`,
      "a@b\r\nBcc: c",
    ];
    for (const email of wrong) {
      const { code, violations, message } = await refusal(
        nodes[0](asked(email, "da"), from("192.0.2.7")),
      );
      assert.equal(code, "invalid_argument");
      assert.deepEqual(violations, [
        {
          field: "email",
          description: "must be an ASCII e-mail address of at most 254 characters",
        },
        { field: "languageCode", description: "must be one of is, en" },
      ]);
      assert.ok(email === "" || !message.includes(email), message);
    }
    assert.deepEqual(await rows(), []);
    const { rows: limits } = await database.pool.query("select from link_request_limit");
    assert.equal(limits.length, 0);
  });

  it("keeps no address in its limits", async () => {
    await nodes[0](asked("anna@example.is"), from("192.0.2.7"));
    const { rows: limits } = await database.pool.query<{ text: string }>(
      "select encode(key, 'escape') as text from link_request_limit",
    );
    assert.equal(limits.length, 2);
    for (const { text } of limits) assert.doesNotMatch(text, /anna|example|192/);
  });
});
