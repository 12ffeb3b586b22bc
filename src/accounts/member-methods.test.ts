import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { addAccount } from "../../test/fixtures/auth-fixture.ts";
import { openTestAccounts } from "../../test/fixtures/open-test-accounts.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { callBy, testCaller } from "../../test/fixtures/test-caller.ts";
import { callerKey, callerOf, scopes, type Caller, type Scope } from "../auth/caller.ts";
import { takeSignInToken } from "../auth/sign-in-token.ts";
import type { Database } from "../database/database.ts";
import {
  type Accounts,
  CreateMemberRequestSchema,
  CreateSignInLinkRequestSchema,
  DeleteMemberRequestSchema,
  ListMembersRequestSchema,
  ListMembersResponseSchema,
  MemberSchema,
  Role,
  UpdateMemberRequestSchema,
  type Member,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { newId } from "../std/ids.ts";

let database: Database;
let accounts: ServiceImpl<typeof Accounts>;
before(async () => {
  ({ database, accounts } = await openTestAccounts());
});
after(() => database[Symbol.asyncDispose]());

/** A role that a later version could add. */
const unknownRole = fromJson(MemberSchema, { role: 9 }).role;

/** Creates a call with a key. By default, the key has every scope and belongs to a new account. */
const newCall = async (held: readonly Scope[] = scopes, accountId?: string) =>
  callBy(testCaller(accountId ?? (await addAccount(database.db)), held));

type Invitation = MessageInitShape<typeof CreateMemberRequestSchema>;
const invite = async (context: HandlerContext, request: Invitation): Promise<Member> => {
  const made = await accounts.createMember(create(CreateMemberRequestSchema, request), context);
  return create(MemberSchema, made);
};
const inviteAs = async (context: HandlerContext, role: Role): Promise<string> =>
  (await invite(context, { email: `${newId()}@example.is`, role })).name;
const change = async (
  context: HandlerContext,
  member: MessageInitShape<typeof MemberSchema>,
  ...paths: string[]
): Promise<Member> => {
  const request = create(UpdateMemberRequestSchema, { member, updateMask: { paths } });
  return create(MemberSchema, await accounts.updateMember(request, context));
};
const remove = async (context: HandlerContext, name: string) =>
  await accounts.deleteMember(create(DeleteMemberRequestSchema, { name }), context);
const list = async (context: HandlerContext): Promise<Member[]> => {
  const answer = await accounts.listMembers(create(ListMembersRequestSchema), context);
  return create(ListMembersResponseSchema, answer).members;
};
const rolesOf = async (context: HandlerContext): Promise<Role[]> =>
  (await list(context)).map(({ role }) => role);

describe("createMember()", () => {
  it("invites a person, who is listed only in that account, newest first", async () => {
    const context = await newCall();
    const anna = { email: "Anna.B@Example.is", displayName: "Anna Þöll", role: Role.OWNER };
    const made = await invite(context, anna);
    assert.match(made.name, /^members\/[\da-f-]{36}$/);
    assert.deepEqual([made.email, made.displayName, made.role], Object.values(anna));
    assert.ok(Math.abs(Number(made.creationTime?.seconds) * 1000 - Date.now()) < 60_000);
    assert.equal(made.lastSignInTime, undefined);
    const second = await invite(context, { email: "bo@example.is", role: Role.VIEWER });
    assert.deepEqual(await list(context), [second, made]);
    assert.deepEqual(await list(await newCall()), []);
  });

  it("reports all violations together, and creates no member", async () => {
    const context = await newCall();
    const rows: [request: Invitation, fields: string[]][] = [
      [{}, ["email", "role"]],
      [{ email: "anna", displayName: "a\n", role: unknownRole }, ["email", "displayName", "role"]],
      [{ email: "anna@x.is", displayName: "x".repeat(201), role: 1 }, ["displayName"]],
      [{ email: "\u212Aari@x.is", role: Role.OWNER }, ["email"]],
      [{ email: `${"a".repeat(250)}@x.is`, role: Role.OWNER }, ["email"]],
    ];
    for (const [request, fields] of rows) {
      const { code, violations } = await refusal(invite(context, request));
      assert.equal(code, "invalid_argument");
      assert.deepEqual(
        violations.map(({ field }) => field),
        fields,
      );
    }
    assert.deepEqual(await list(context), []);
  });

  it("allows an address once per account, ignoring case, and in several accounts", async () => {
    const context = await newCall();
    await invite(context, { email: "anna@example.is", role: Role.VIEWER });
    const again = { email: "ANNA@example.is", role: Role.OWNER };
    const { code, reason } = await refusal(invite(context, again));
    assert.deepEqual([code, reason], ["already_exists", "MEMBER_EXISTS"]);
    await invite(await newCall(), again);
  });

  it("accepts only one of several concurrent invitations of a person", async () => {
    const context = await newCall();
    const asked = Array.from({ length: 8 }, async () =>
      invite(context, { email: "anna@example.is", role: Role.OWNER }),
    );
    const reasons = await reasonsOf(asked);
    const refused = Array.from({ length: 7 }, () => "MEMBER_EXISTS");
    assert.deepEqual(reasons, [...refused, "OK"]);
  });

  it("allows 1000 members, for any number of concurrent calls", async () => {
    const context = await newCall();
    const { accountId } = callerIn(context);
    await database.pool.query(
      `insert into member (id, account_id, email, display_name, role)
       select gen_random_uuid(), $1, n || '@example.is', '', 'VIEWER' from generate_series(1, 999) n`,
      [accountId],
    );
    const asked = Array.from({ length: 8 }, async () => inviteAs(context, Role.VIEWER));
    const refused = Array.from({ length: 7 }, () => "TOO_MANY_MEMBERS");
    assert.deepEqual(await reasonsOf(asked), ["OK", ...refused]);
    assert.equal((await list(context)).length, 1000);
  });

  it("grants no role with more scopes than the caller has", async () => {
    const rows: [held: Scope[], given: Role[]][] = [
      [["account"], []],
      [["account", "transcripts.read"], [Role.VIEWER]],
      [
        ["account", "transcripts.read", "transcripts.write", "speech"],
        [Role.VIEWER, Role.MEMBER, Role.OWNER],
      ],
    ];
    for (const [held, given] of rows) {
      const context = await newCall(held);
      const owner = await newCall(scopes, callerIn(context).accountId);
      await inviteAs(owner, Role.OWNER);
      for (const role of [Role.VIEWER, Role.MEMBER, Role.OWNER]) {
        const name = await inviteAs(owner, role === Role.VIEWER ? Role.MEMBER : Role.VIEWER);
        const reasons = await reasonsOf([inviteAs(context, role), change(context, { name, role })]);
        const expected = given.includes(role) ? "OK" : "SCOPE_MISSING";
        assert.deepEqual(reasons, [expected, expected], `${held.join()} grants ${role}`);
      }
    }
  });
});

describe("updateMember()", () => {
  it("changes the fields in the mask, or without a mask those that are set", async () => {
    const context = await newCall();
    await inviteAs(context, Role.OWNER);
    const made = await invite(context, { email: "bo@example.is", role: Role.VIEWER });
    const { name } = made;
    const expected = { ...made };
    const rows: [
      member: MessageInitShape<typeof MemberSchema>,
      paths: string[],
      changed: Partial<Member>,
    ][] = [
      [{ displayName: "Bo" }, [], { displayName: "Bo" }],
      [{ role: Role.MEMBER }, [], { role: Role.MEMBER }],
      [{ displayName: "x", role: Role.OWNER }, ["role"], { role: Role.OWNER }],
      [{ displayName: "", role: Role.VIEWER }, ["display_name"], { displayName: "" }],
      // A member can be sent back as it was read.
      [{ ...made, displayName: "Bo B.", role: Role.OWNER }, [], { displayName: "Bo B." }],
      [{ ...made, displayName: "B" }, ["displayName", "email", "name"], { displayName: "B" }],
    ];
    for (const [member, paths, changed] of rows) {
      Object.assign(expected, changed);
      assert.deepEqual(await change(context, { ...member, name }, ...paths), expected);
      assert.deepEqual((await list(context))[0], expected);
    }
  });

  it("reports violations, and changes nothing", async () => {
    const context = await newCall();
    const name = await inviteAs(context, Role.OWNER);
    const before = await list(context);
    const rows: [
      member: MessageInitShape<typeof MemberSchema>,
      paths: string[],
      fields: string[],
    ][] = [
      [{}, [], ["member"]],
      [{ email: before[0]?.email ?? "" }, [], ["member"]],
      [{ displayName: "Bo" }, ["creationTime"], ["member"]],
      [{ displayName: "a\u0000", role: unknownRole }, [], ["displayName", "role"]],
      [{}, ["role"], ["role"]],
      [{ displayName: "Bo" }, ["displayName", "scopes"], ["updateMask"]],
      [{ displayName: "Bo", email: "bo@example.is" }, [], ["email"]],
      [{ displayName: "Bo" }, ["displayName", "email"], ["email"]],
    ];
    for (const [member, paths, fields] of rows) {
      const { code, violations } = await refusal(change(context, { ...member, name }, ...paths));
      assert.equal(code, "invalid_argument");
      assert.deepEqual(
        violations.map(({ field }) => field),
        fields,
      );
    }
    assert.deepEqual(await list(context), before);
  });
});

describe("updateMember() and deleteMember()", () => {
  it("never leave members without an owner", async () => {
    const context = await newCall();
    const [first, second] = [
      await inviteAs(context, Role.OWNER),
      await inviteAs(context, Role.OWNER),
    ];
    await change(context, { name: first, role: Role.MEMBER });
    const demoted = await refusal(change(context, { name: second, role: Role.VIEWER }));
    assert.deepEqual([demoted.code, demoted.reason], ["failed_precondition", "LAST_OWNER"]);
    assert.equal((await refusal(remove(context, second))).reason, "LAST_OWNER");
    await change(context, { name: second, displayName: "still", role: Role.OWNER });
    await remove(context, first);
    assert.equal(
      (await refusal(change(context, { name: second, role: Role.MEMBER }))).reason,
      "LAST_OWNER",
    );
    await remove(context, second); // no member is left
    assert.deepEqual(await list(context), []);
    const viewers = [await inviteAs(context, Role.VIEWER), await inviteAs(context, Role.VIEWER)];
    for (const name of viewers) await remove(context, name); // none was an owner
  });

  it("leave one owner if all owners are removed concurrently", async () => {
    const context = await newCall();
    const owners: string[] = [];
    for (let count = 0; count < 6; count += 1) owners.push(await inviteAs(context, Role.OWNER));
    await inviteAs(context, Role.VIEWER);
    const reasons = await reasonsOf(
      owners.map(async (name, at) =>
        at % 2 === 0
          ? await remove(context, name)
          : await change(context, { name, role: Role.VIEWER }),
      ),
    );
    assert.deepEqual(reasons, ["LAST_OWNER", "OK", "OK", "OK", "OK", "OK"]);
    assert.deepEqual(
      (await rolesOf(context)).filter((role) => role === Role.OWNER),
      [Role.OWNER],
    );
  });

  it("treat another account's member as nonexistent", async () => {
    const [mine, theirs] = [await newCall(), await newCall()];
    const name = await inviteAs(theirs, Role.VIEWER);
    const messages = new Set<string>();
    for (const other of [
      name,
      `members/${newId()}`,
      "members/x",
      "",
      newId(),
      `apiKeys/${newId()}`,
    ]) {
      for (const answer of [
        async () => await remove(mine, other),
        async () => await change(mine, { name: other, role: Role.OWNER }),
        async () => await change(mine, { name: other, role: unknownRole }),
      ]) {
        const { code, message } = await refusal(answer());
        assert.equal(code, "not_found", other);
        messages.add(message.replace(/".*"/, "<name>"));
      }
    }
    assert.deepEqual([...messages], ["there is no <name>"]);
    assert.deepEqual(await rolesOf(theirs), [Role.VIEWER]);
  });
});

/** Returns the sorted results of calls: "OK" or the reason. */
async function reasonsOf(answers: readonly Promise<unknown>[]): Promise<string[]> {
  const ended = await Promise.allSettled(answers);
  return ended
    .map((each) => (each.status === "rejected" ? `${each.reason.reason}` : "OK"))
    .toSorted();
}

function callerIn(context: HandlerContext): Caller {
  const caller = context.values.get(callerKey);
  assert.ok(caller);
  return caller;
}

describe("createSignInLink()", () => {
  const link = async (context: HandlerContext, name: string) =>
    await accounts.createSignInLink(create(CreateSignInLinkRequestSchema, { name }), context);
  const tokenIn = (uri = "") => new URL(uri).hash.replace("#signInToken=", "");

  it("makes a link for three days, which signs the member in once and replaces earlier ones", async () => {
    const context = await newCall();
    const name = await inviteAs(context, Role.MEMBER);
    const before = Date.now();
    const [first, second] = [await link(context, name), await link(context, name)];
    const lifeMs = Number(second.expireTime?.seconds) * 1000 - before;
    assert.ok(Math.abs(lifeMs - 3 * 86_400_000) < 60_000, `${lifeMs} ms`);
    const { db } = database;
    assert.equal(await takeSignInToken(db, tokenIn(first.uri)), undefined);
    const taken = await takeSignInToken(db, tokenIn(second.uri));
    assert.equal(taken?.isGood, true);
    assert.deepEqual(taken.owner, {
      accountId: callerOf(context).accountId,
      memberId: name.replace("members/", ""),
    });
    assert.equal(await takeSignInToken(db, tokenIn(second.uri)), undefined);
  });

  it("refuses callers that lack scopes of the member, and members of other accounts", async () => {
    const context = await newCall();
    const name = await inviteAs(context, Role.OWNER);
    const weak = await newCall(["account", "transcripts.read"], callerOf(context).accountId);
    const { reason } = await refusal(link(weak, name));
    assert.equal(reason, "SCOPE_MISSING");
    const { code } = await refusal(link(await newCall(), name));
    assert.equal(code, "not_found");
  });
});
