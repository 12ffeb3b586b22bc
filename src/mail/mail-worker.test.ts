import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { pino } from "pino";
import {
  mailOptionsFor,
  openMailFixture,
  type MailFixture,
} from "../../test/fixtures/mail-fixture.ts";
import { decodedHeader, openMailReceiver } from "../../test/fixtures/mail-receiver.ts";
import { trustedCertificate, type Certificate } from "../../test/fixtures/trusted-certificate.ts";
import { until } from "../../test/fixtures/until.ts";
import { callerOf } from "../auth/caller.ts";
import { takeSignInToken } from "../auth/sign-in-token.ts";
import {
  CreateSignInLinkRequestSchema,
  DeleteMemberRequestSchema,
  InvitationMail_Problem as Problem,
  InvitationMail_State as State,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";

const password = "leyniorð sem enginn á að sjá";
const login = { user: "hlust", password };
let fixture: MailFixture;
let certificate: Certificate;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-mail-"));
  certificate = await trustedCertificate(folder, ["127.0.0.1"]);
  fixture = await openMailFixture();
});
after(async () => {
  await fixture[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await fixture.database.pool.query("delete from invitation_mail");
});

/** Waits until the only member of an account has a mail in this state, and returns the mail. */
async function mailIn(context: Parameters<MailFixture["list"]>[0], state: State) {
  const find = async () => (await fixture.list(context))[0]?.invitationMail;
  await until(async () => (await find())?.state === state, 60_000);
  const mail = await find();
  assert.ok(mail);
  return mail;
}

const tokens = async (): Promise<number> =>
  (await fixture.database.db.selectFrom("sign_in_token").select("id").execute()).length;

describe("the mail worker", () => {
  it("sends an invitation after STARTTLS and a sign-in, with a link that signs the member in", async () => {
    await using receiver = await openMailReceiver({ certificate, password });
    const options = mailOptionsFor(receiver.port, { encryption: "starttls", login });
    const { log, lines } = keptLog();
    await using _worker = fixture.openWorker(options, { log });
    const context = await fixture.newAccount("Fréttastofa, \r\nBcc: allir@example.is");
    const email = "o'brien+x=y@example.is";
    const name = await fixture.invite(context, { email, displayName: 'Ari, "Þór" <a@b.is>' });
    const asked = await fixture.send(context, name, "is");
    assert.equal(asked.invitationMail?.state, State.PENDING);
    const mail = await mailIn(context, State.SENT);
    assert.deepEqual([mail.attempts, mail.problem, mail.response], [1, 0, ""]);
    const [message, ...others] = receiver.received;
    assert.ok(message);
    assert.equal(others.length, 0);
    const { from, to, user, isSecure, headers, parts } = message;
    assert.deepEqual([from, to, user, isSecure], ["hlust@example.org", [email], "hlust", true]);
    // No name has become a header, an address or a link.
    assert.deepEqual(
      [headers.get("to"), headers.get("bcc"), headers.get("cc")],
      [email, undefined, undefined],
    );
    assert.match(decodedHeader(headers.get("from")), /^"?Hlust, þjónusta"? <hlust@example\.org>$/);
    assert.equal(decodedHeader(headers.get("subject")), "Boð á Hlust");
    assert.equal(headers.get("auto-submitted"), "auto-generated");
    const [row] = await fixture.rows();
    assert.equal(headers.get("message-id"), `<${row?.id}@example.org>`);
    const [plain = "", html = ""] = [parts.get("text/plain"), parts.get("text/html")];
    assert.match(plain, /^Þér hefur verið boðið á Hlust, þjónustu sem skrifar upp tal\.\n\n/);
    const [link = ""] = /https:\S+/.exec(plain) ?? [];
    assert.ok(html.includes(`<a href="${link}">`));
    assert.match(link, /^https:\/\/hlust\.example\/console\/#signInToken=/);
    const token = new URL(link).hash.replace("#signInToken=", "");
    const taken = await takeSignInToken(fixture.database.db, token);
    assert.equal(taken?.isGood, true);
    assert.deepEqual(taken.owner, {
      accountId: callerOf(context).accountId,
      memberId: name.replace("members/", ""),
    });
    await until(async () => lines.some((line) => line.includes('"mail.sent"')));
    assertQuiet(lines, [email, token]);
  });

  it("sends over TLS from the first byte, and in English the address of the console if there is a provider", async () => {
    await using receiver = await openMailReceiver({ certificate, secure: true });
    const options = mailOptionsFor(receiver.port, { encryption: "tls" });
    await using _worker = fixture.openWorker(options, { hasProvider: true });
    const context = await fixture.newAccount("Newsroom");
    const before = await tokens();
    await fixture.send(context, await fixture.invite(context));
    await mailIn(context, State.SENT);
    const [message] = receiver.received;
    assert.equal(message?.isSecure, true);
    assert.equal(message.headers.get("subject"), "Invitation to Hlust: Newsroom");
    const plain = message.parts.get("text/plain") ?? "";
    assert.match(plain, /\n\nhttps:\/\/hlust\.example\/console\/\n\nDid you not expect/);
    assert.equal(await tokens(), before);
  });

  it("says neither the password nor the mail to a server without TLS, and waits", async () => {
    await using receiver = await openMailReceiver({});
    const options = mailOptionsFor(receiver.port, { encryption: "starttls", login });
    await using _worker = fixture.openWorker(options);
    const context = await fixture.newAccount();
    const before = await tokens();
    await fixture.send(context, await fixture.invite(context));
    await until(async () => (await fixture.rows())[0]?.problem === "NOT_ENCRYPTED", 60_000);
    const mail = await mailIn(context, State.PENDING);
    assert.equal(mail.problem, Problem.NOT_ENCRYPTED);
    assert.equal(receiver.received.length, 0);
    // The link of an attempt that failed was in no mail.
    await until(async () => (await tokens()) === before);
  });

  it("waits if the server refuses the password", async () => {
    await using receiver = await openMailReceiver({
      certificate,
      password: "annað lykilorð en hitt",
    });
    const options = mailOptionsFor(receiver.port, { encryption: "starttls", login });
    const { log, lines } = keptLog();
    await using _worker = fixture.openWorker(options, { log });
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    await until(async () => (await fixture.rows())[0]?.problem === "SIGN_IN_REFUSED", 60_000);
    const mail = await mailIn(context, State.PENDING);
    assert.deepEqual([mail.problem, mail.response], [Problem.SIGN_IN_REFUSED, ""]);
    await until(async () =>
      lines.some((line) => /"problem":"SIGN_IN_REFUSED","status":535/.test(line)),
    );
    assertQuiet(lines, [(await fixture.rows())[0]?.email ?? ""]);
  });

  it("tries again when a server that could not be reached is back", async () => {
    const port = await freePort();
    await using _worker = fixture.openWorker(mailOptionsFor(port));
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    await until(async () => (await fixture.rows())[0]?.problem === "NOT_REACHED", 60_000);
    await using receiver = await openMailReceiver({ port });
    // The next attempt is due after some seconds.
    await fixture.shift("-10 seconds");
    const mail = await mailIn(context, State.SENT);
    assert.ok(mail.attempts >= 2, `${mail.attempts}`);
    assert.equal(mail.problem, Problem.PROBLEM_UNSPECIFIED);
    assert.equal(receiver.received.length, 1);
  });

  it("ends a mail whose recipient the server refuses, with the words of the server", async () => {
    await using receiver = await openMailReceiver({
      refuses: (address) => (address.startsWith("noone") ? 550 : undefined),
    });
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context, { email: "noone@example.is" }));
    const mail = await mailIn(context, State.FAILED);
    assert.deepEqual([mail.problem, mail.attempts], [Problem.RECIPIENT_REFUSED, 1]);
    assert.match(mail.response, /^550 5\.1\.1 no such user here$/);
    assert.equal(receiver.received.length, 0);
  });

  it("sends no mail to removed members, with replaced links, of disabled accounts, or after its day", async () => {
    await using receiver = await openMailReceiver();
    const context = await fixture.newAccount();
    const old = await fixture.invite(context, { email: "old@example.is" });
    await fixture.send(context, old);
    await fixture.shift("-25 hours");
    const removed = await fixture.invite(context, { email: "removed@example.is" });
    await fixture.send(context, removed);
    await fixture.accounts.deleteMember(
      create(DeleteMemberRequestSchema, { name: removed }),
      context,
    );
    const replaced = await fixture.invite(context, { email: "replaced@example.is" });
    await fixture.send(context, replaced);
    const asked = create(CreateSignInLinkRequestSchema, { name: replaced });
    await fixture.accounts.createSignInLink(asked, context);
    const disabled = await fixture.newAccount();
    await fixture.send(disabled, await fixture.invite(disabled, { email: "disabled@example.is" }));
    await fixture.database.db
      .updateTable("account")
      .set({ disabled_at: new Date() })
      .where("id", "=", callerOf(disabled).accountId)
      .execute();
    const twice = await fixture.invite(context, { email: "twice@example.is" });
    await fixture.send(context, twice);
    await fixture.send(context, twice);
    const openWorker = () => fixture.openWorker(mailOptionsFor(receiver.port), { sweepMs: 50 });
    {
      await using _worker = openWorker();
      await until(async () => (await fixture.rows()).at(-1)?.state === "SENT", 60_000);
      await until(async () => (await fixture.rows())[0]?.state === "FAILED");
      // Disposing of the worker waits until everything that it has leased is sent.
    }
    const listed = await fixture.list(context);
    const states = listed.map(({ email, invitationMail }) => [
      email,
      invitationMail?.state,
      invitationMail?.problem,
    ]);
    assert.deepEqual(states, [
      ["twice@example.is", State.SENT, Problem.PROBLEM_UNSPECIFIED],
      ["replaced@example.is", State.CANCELED, Problem.PROBLEM_UNSPECIFIED],
      ["old@example.is", State.FAILED, Problem.TIME_OVER],
    ]);
    assert.deepEqual(
      receiver.received.flatMap(({ to }) => to),
      ["twice@example.is"],
    );
    const rows = await fixture.rows();
    assert.deepEqual(
      rows.map(({ email, state }) => [email, state]),
      [
        ["old@example.is", "FAILED"],
        ["removed@example.is", "CANCELED"],
        ["replaced@example.is", "CANCELED"],
        ["disabled@example.is", "PENDING"],
        ["twice@example.is", "CANCELED"],
        ["twice@example.is", "SENT"],
      ],
    );
    // After 30 days nothing is left of them.
    await using _worker = openWorker();
    await fixture.shift("-31 days");
    await until(async () => (await fixture.rows()).length === 0);
  });

  it("sends a mail at most twice to a server that does not answer after the message", async () => {
    let arrived = 0;
    await using receiver = await openMailReceiver({
      async onMessage() {
        arrived += 1;
        await new Promise(() => {});
      },
    });
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port), { timeoutMs: 2_000 });
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    await until(async () => (await fixture.rows())[0]?.problem === "NO_ANSWER", 60_000);
    await fixture.shift("-10 seconds");
    const mail = await mailIn(context, State.FAILED);
    assert.equal(mail.problem, Problem.OUTCOME_UNKNOWN);
    assert.equal(arrived, 2);
  });

  it("releases a mail whose server has not greeted when it stops", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const connected = once(server, "connection");
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    const before = await tokens();
    {
      await using _worker = fixture.openWorker(mailOptionsFor(port));
      await connected;
    }
    server.close();
    const [row] = await fixture.rows();
    assert.deepEqual([row?.state, row?.tries, row?.unnoted], ["PENDING", 0, 0]);
    assert.ok(row && row.due_at.getTime() <= Date.now() + 60_000);
    assert.equal(await tokens(), before);
  });

  it("shows a mail as failed after its day even if no worker runs", async () => {
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    await fixture.shift("-23 hours");
    assert.equal((await fixture.list(context))[0]?.invitationMail?.state, State.PENDING);
    await fixture.shift("-1 hour");
    const mail = (await fixture.list(context))[0]?.invitationMail;
    assert.deepEqual([mail?.state, mail?.problem], [State.FAILED, Problem.TIME_OVER]);
  });
});

function keptLog() {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  return { log, lines };
}

/** Fails if a log shows the password, an address or a token. */
function assertQuiet(lines: readonly string[], secrets: readonly string[]): void {
  const all = lines.join("");
  const encoded = Buffer.from(`\0hlust\0${password}`).toString("base64");
  for (const secret of [password, encoded, ...secrets]) assert.ok(!all.includes(secret), secret);
}

/** Returns a port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address ? address.port : 0;
}
