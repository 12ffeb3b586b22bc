// The limits of invitations that are sent by mail, and the requests that are refused.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { openMailFixture, type MailFixture } from "../../test/fixtures/mail-fixture.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { DeleteMemberRequestSchema } from "../gen/hlust/accounts/v1/accounts_pb.ts";

let fixture: MailFixture;
before(async () => {
  fixture = await openMailFixture();
});
after(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  await fixture.database.pool.query("delete from invitation_mail");
});

describe("sendInvitation()", () => {
  it("limits the mail of an account and to an address, also if members are removed", async () => {
    const context = await fixture.newAccount();
    const again = async () => {
      const name = await fixture.invite(context, { email: "anna@example.is" });
      try {
        return await fixture.send(context, name);
      } finally {
        await fixture.accounts.deleteMember(create(DeleteMemberRequestSchema, { name }), context);
      }
    };
    for (let count = 0; count < 5; count += 1) await again();
    const often = await refusal(again());
    assert.deepEqual([often.code, often.reason], ["resource_exhausted", "MAILED_TOO_OFTEN"]);
    assert.match(often.message, /"anna@example\.is" has been sent 5 mails within 24 hours/);
    const name = await fixture.invite(context);
    for (let count = 5; count < 12; count += 1) {
      await fixture.send(context, count % 2 === 0 ? name : await fixture.invite(context));
    }
    const much = await refusal(fixture.send(context, name));
    assert.deepEqual([much.code, much.reason], ["resource_exhausted", "TOO_MUCH_MAIL"]);
    assert.match(much.message, /12 mails within 24 hours, its limit \(HLUST_MAILS_PER_DAY\)/);
    const other = await fixture.newAccount();
    await fixture.send(other, await fixture.invite(other));
    await fixture.shift("-1 day");
    await fixture.send(context, name);
  });

  it("refuses other languages, unknown members and members of other accounts", async () => {
    const context = await fixture.newAccount();
    const name = await fixture.invite(context);
    const { violations } = await refusal(fixture.send(context, name, "da"));
    assert.deepEqual(violations, [
      { field: "languageCode", description: 'must be one of is, en, not "da"' },
    ]);
    assert.equal((await refusal(fixture.send(context, "members/x"))).code, "not_found");
    const stranger = await fixture.newAccount();
    assert.equal((await refusal(fixture.send(stranger, name))).code, "not_found");
    assert.equal((await fixture.rows()).length, 0);
  });
});
