// Links for signing in that people request by mail without a session: two nodes that answer calls,
// one that sends the mail, and a real SMTP server.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Kysely } from "kysely";
import pg from "pg";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { perAddress, perEmail } from "../../src/mail/link-requests.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { openCluster, type Cluster, type ClusterNode } from "../fault/cluster.ts";
import { openMailReceiver, type MailReceiver } from "../fixtures/mail-receiver.ts";
import { addMember, consoleHeaders } from "../fixtures/signed-in.ts";
import { until, within } from "../fixtures/until.ts";
import { callRest, type Answer } from "../spec/service.ts";
import { secretSetBy } from "./open-console.ts";

const path = "/console/session:requestLink";
const opened = new AsyncDisposableStack();
let receiver: MailReceiver;
let cluster: Cluster;
let nodes: readonly [ClusterNode, ClusterNode, ClusterNode];
let db: Kysely<Tables>;
let accountId: string;

before(async () => {
  receiver = opened.use(await openMailReceiver());
  cluster = opened.use(
    await openCluster({
      HLUST_PUBLIC_URL: "https://hlust.example",
      HLUST_SMTP_URL: `smtp://127.0.0.1:${receiver.port}?tls=off`,
      HLUST_MAIL_FROM: "hlust@example.org",
      HLUST_TRUSTED_PROXIES: "127.0.0.0/8",
      HLUST_LOG: "debug",
    }),
  );
  nodes = [cluster.addNode("api"), cluster.addNode("api"), cluster.addNode("worker")];
  for (const node of nodes) await node.start();
  const log = createLog("silent");
  ({ db } = opened.use(await openDatabase({ url: cluster.postgres.url, folder: "", log })));
  accountId = (await db.selectFrom("account").select("id").executeTakeFirstOrThrow()).id;
});
after(() => opened.disposeAsync());
beforeEach(async () => {
  await db.deleteFrom("link_request_limit").execute();
});

interface Asking {
  readonly body: unknown;
  /** The node that is called. Default: the first one. */
  readonly at?: 0 | 1;
  /** The network address of the browser, which a proxy names. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask({ body, at = 0, from = "192.0.2.1", headers = {} }: Asking): Promise<Answer> {
  const own = { ...consoleHeaders(undefined), "x-forwarded-for": from, ...headers };
  const address = nodes[at].service.address;
  return await callRest(address, undefined, { method: "POST", path, body, headers: own });
}

const asked = (email: string, languageCode = "is") => ({ email, languageCode });
const reasonOf = ({ json }: Answer) => json.details[0].reason;
const mailTo = (email: string) => receiver.received.filter(({ to }) => to.includes(email));

test("a member without a link requests one, which signs in once, on every node", async () => {
  const email = "gudrun.jonsdottir@example.is";
  const memberId = await addMember(db, accountId, "MEMBER", email);
  const first = await callRest(nodes[1].service.address, undefined, {
    method: "GET",
    path: "/console/session",
    headers: consoleHeaders(undefined),
  });
  assert.deepEqual(first.json, { signInWays: ["apiKey", "mail"] });
  const answer = await ask({ body: asked(email), headers: { "x-request-id": "asked-77" } });
  assert.deepEqual([answer.status, answer.json], [200, {}]);
  assert.deepEqual(answer.headers.getSetCookie(), []);
  await until(async () => mailTo(email).length === 1);
  const text = mailTo(email)[0]?.parts.get("text/plain") ?? "";
  const [, signInToken = ""] =
    /https:\/\/hlust\.example\/console\/#signInToken=(\S+)/.exec(text) ?? [];
  const follow = async (at: 0 | 1) =>
    await callRest(nodes[at].service.address, undefined, {
      method: "POST",
      path: "/console/session",
      body: { signInToken },
      headers: consoleHeaders(undefined),
    });
  const entered = await follow(1);
  assert.deepEqual([entered.status, entered.json.actor], [200, `members/${memberId}`]);
  assert.ok(secretSetBy(entered));
  assert.equal((await follow(0)).status, 401);
  const events = await db
    .selectFrom("audit_event")
    .select(["action", "address", "request_id"])
    .where("actor", "=", `members/${memberId}`)
    .where("action", "=", "sign_in_token.request")
    .execute();
  const event = { action: "sign_in_token.request", address: "192.0.2.1", request_id: "asked-77" };
  assert.deepEqual(events, [event]);
  const logOf = ({ service }: ClusterNode) => service.output().errors;
  await until(async () => logOf(nodes[2]).includes('"mail.sent"'));
  const log = nodes.map(logOf).join("");
  assert.match(log, /sign_in_token\.request/);
  for (const secret of ["gudrun", "example.is", signInToken]) {
    assert.ok(secret.length > 5 && !log.includes(secret), secret);
  }
});

test("no answer depends on whether the address has a member, since no call looks for one", async () => {
  const known = "known@example.is";
  await addMember(db, accountId, "OWNER", known);
  const facts = ({ status, json, headers }: Answer) => {
    const { "x-request-id": _, date: __, ...others } = Object.fromEntries(headers);
    // How long a limit lasts depends on the time of the call.
    const text = JSON.stringify(json).replaceAll(/"[\d.]+s"/g, "");
    return { status, text, headers: { ...others, "retry-after": "" } };
  };
  // While a transaction has the tables of members and accounts, nothing can read them.
  const client = new pg.Client({ connectionString: cluster.postgres.url });
  await client.connect();
  try {
    await client.query("begin");
    await client.query("lock table member, account, invitation_mail, sign_in_token");
    for (let count = 0; count <= perEmail.max; count += 1) {
      const answers = [known, "not-known@example.is"].map(async (email) =>
        facts(await ask({ body: asked(email) })),
      );
      const [one, other] = await within("the answers", Promise.all(answers));
      assert.equal(one?.status, count < perEmail.max ? 200 : 429);
      assert.deepEqual(one, other);
    }
  } finally {
    await client.query("rollback");
    await client.end();
  }
  await until(async () => mailTo(known).length > 0);
  assert.equal(mailTo("not-known@example.is").length, 0);
});

test("a flood on both nodes gets no more than the limits, for one address and for one network", async () => {
  const victim = "victim@example.is";
  await addMember(db, accountId, "MEMBER", victim);
  const countOf = async (asking: readonly Asking[]) => {
    const answers = await Promise.all(asking.map(ask));
    assert.ok(answers.every(({ status }) => status === 200 || status === 429));
    const refused = new Set(answers.filter(({ status }) => status === 429).map(reasonOf));
    return [answers.filter(({ status }) => status === 200).length, [...refused]];
  };
  const many = (count: number, one: (index: number) => Omit<Asking, "at">): Asking[] =>
    Array.from({ length: count }, (_, index) => ({ ...one(index), at: index % 2 === 0 ? 0 : 1 }));
  // From many networks, with the address in many forms.
  const forms = [victim, "Victim@example.is", "VICTIM@EXAMPLE.IS"];
  const flood = many(200, (index) => ({
    body: asked(forms[index % 3] ?? victim),
    from: `198.51.${index}.7`,
  }));
  assert.deepEqual(await countOf(flood), [perEmail.max, ["LINK_REQUESTED_TOO_OFTEN"]]);
  // From one network, which has 2^64 addresses and invents others before its proxy.
  const network = many(120, (index) => ({
    body: asked(`${newId()}@example.is`),
    from: `203.0.113.${index}, 2001:db8:0:7:${index.toString(16)}::1`,
  }));
  assert.deepEqual(await countOf(network), [perAddress.max, ["TOO_MANY_LINK_REQUESTS"]]);
  const refused = await ask({ body: asked("other@example.is"), from: "2001:db8:0:7::" });
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  // Others are not affected.
  assert.equal((await ask({ body: asked("other@example.is") })).status, 200);
  await until(async () => mailTo(victim).length > 0);
  assert.ok(mailTo(victim).length <= perEmail.max);
});

test("requests of other sites, without https, and of another form are refused", async () => {
  const body = asked("anna@example.is");
  const rows: [row: string, asking: Asking, status: number][] = [
    ["another site", { body, headers: { "sec-fetch-site": "cross-site" } }, 403],
    ["a form of another site", { body, headers: { "x-hlust-console": "" } }, 403],
    ["http from elsewhere", { body, headers: { origin: "http://192.168.1.5:8080" } }, 400],
    ["text", { body, headers: { "content-type": "text/plain" } }, 415],
    ["no JSON", { body: "{" }, 400],
    ["no address", { body: { languageCode: "is" } }, 400],
    ["no language", { body: { email: "anna@example.is" } }, 400],
    ["another field", { body: { ...body, apiKey: "x" } }, 400],
    ["a number", { body: { ...body, email: 7 } }, 400],
    ["a wrong address", { body: asked("anna") }, 400],
    ["an unknown language", { body: asked("anna@example.is", "da") }, 400],
    ["a long body", { body: asked("x".repeat(20_000)) }, 413],
  ];
  for (const [row, asking, status] of rows) assert.equal((await ask(asking)).status, status, row);
  const limits = await db.selectFrom("link_request_limit").selectAll().execute();
  assert.deepEqual(limits, [], "what is refused for its form is not counted");
});
